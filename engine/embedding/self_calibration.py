"""Finds out how the cosines of a model that nobody has calibrated are to be read.

Models differ in what they call unrelated: cosines of .02 on average for one, of .75 for another. How far they scatter
about that average is the yardstick: what stands out of it by so many standard deviations means something. How many was
taken from two models, the built-in one and all-MiniLM-L6-v2, on questions that share no word with their note: of these
more than 80 of 100 score 0.35, of unrelated pairs 2. Applied to the built-in model, this puts 0.35 at a cosine of .20,
where pairs of its own put it at .14: who has not measured a model is better too strict with it than too lax.
"""

from typing import TYPE_CHECKING

from engine.embedding.base import Calibration

if TYPE_CHECKING:
    from engine.embedding.base import Vectors

QUESTIONS = (
    "Which train goes to the airport?",
    "How long do lentils have to cook?",
    "What did the doctor say about my knee?",
    "Where is the key of the garden shed?",
    "Why does the test fail on Windows?",
    "Who pays for the broken window?",
    "When does the choir rehearse?",
    "What is a good book for a child of six?",
    "How much rain fell in October?",
    "Which colour shall we paint the kitchen?",
    "How do I renew a passport?",
    "What was decided about the budget?",
    "Who fed the neighbours' dog?",
    "How is a black hole formed?",
    "Which password policy do we follow?",
    "What are the rules for parking here?",
)
PASSAGES = (
    "The harvest festival was moved to the school because of the storm.",
    "Interest on the loan falls due on the first of each quarter.",
    "He tuned the piano twice, and the low strings still buzz.",
    "The function returns early when the list is empty.",
    "Basil wants warmth; below ten degrees its leaves turn black.",
    "Our flight was delayed by three hours and landed at dawn.",
    "She wrote her thesis about medieval trade in the Baltic.",
    "The second candidate knows Rust and has led a small team.",
    "Replace the filter of the washing machine every two years.",
    "Vaccination protects most children against measles for life.",
    "The museum shows etchings and is closed on Mondays.",
    "A goal in the last minute saved the home team from defeat.",
    "Knead the dough, let it rest, and bake it for half an hour.",
    "The glacier has lost a third of its ice since the war.",
    "All contracts are kept in the blue folder on the shelf.",
    "Two of the satellites send their pictures once a day.",
)
"""None answers any of the questions."""
_LOW, _HIGH = 1.5, 5.9
"""Standard deviations above the average of what is unrelated."""
_WEIGHT = 0.5
"""Share of meaning beside words. With it all-MiniLM-L6-v2 ranks technical abstracts best: nDCG@10 .567, where .3 and .6
make .561 and .566, and words alone .541."""


def calibrated(questions: "Vectors", passages: "Vectors") -> Calibration:
    """From the model's vectors of `QUESTIONS` and of `PASSAGES`, shapes (n, dims)."""
    cosines = questions @ passages.T
    mean, deviation = float(cosines.mean()), float(cosines.std())
    return Calibration(mean + _LOW * deviation, mean + _HIGH * deviation, _WEIGHT, deviation)
