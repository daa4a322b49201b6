"""Twenty notes, each with a query that uses other words than the note."""

ASKED = {
    "orchard": ("We picked a crate of apples and the last pears behind the barn.", "harvesting fruit from the trees"),
    "boiler": ("The furnace in the cellar went out again overnight.", "why was the heating not working"),
    "violin": ("Clara practises her violin an hour before supper.", "which musical instrument does my daughter play"),
    "visa": ("The consulate wants two photographs and a bank statement.", "documents for travelling abroad"),
    "migraine": ("Bright light and loud rooms make the headache worse.", "what is bad for my pain"),
    "sourdough": ("Feed the starter with rye flour the evening before.", "how do I bake bread"),
    "marathon": ("Ran thirty kilometres along the river, knees are fine.", "training for long distance jogging"),
    "kitten": ("Minka caught her first mouse and laid it on the carpet.", "the cat hunting small animals"),
    "mortgage": ("The bank offers 3.1 percent fixed for ten years.", "interest rate for the house loan"),
    "telescope": ("Saturn stood high; its rings were sharp until midnight.", "looking at planets in the night sky"),
    "printer": ("It jams whenever the paper is thicker than usual.", "office machine gets stuck with sheets"),
    "wedding": ("Tom and Aisha will marry in June, sixty guests.", "how many people are invited to the ceremony"),
    "beehive": ("The queen is marked with a blue dot this year.", "colour of the insect that leads the colony"),
    "ferry": ("The boat to the island leaves at seven and at noon.", "crossing the sea by ship, departure times"),
    "chess": ("Lost with the black pieces after giving up a rook.", "board game that I did not win"),
    "roof": ("Rain comes in near the chimney, three tiles are cracked.", "where does the house leak water"),
    "backup": ("The nightly copy to the second disk failed twice.", "saving data safely to another drive"),
    "dentist": ("She put in a filling and will look at the molar in spring.", "tooth treatment appointment"),
    "greenhouse": ("Cucumbers need shade from the glass in July.", "protecting vegetables from too much sun"),
    "salary": ("From May on I am paid four percent more.", "raise in my income"),
}
"""Notes by name: the text, and a query that shares no significant word with it."""
