"""Languages of texts by the names that the analysis gives them, which are Snowball's."""

from engine import marked, tr

_NAMES = {
    "arabic": marked("Arabic"),
    "armenian": marked("Armenian"),
    "catalan": marked("Catalan"),
    "czech": marked("Czech"),
    "danish": marked("Danish"),
    "dutch": marked("Dutch"),
    "english": marked("English"),
    "finnish": marked("Finnish"),
    "french": marked("French"),
    "german": marked("German"),
    "greek": marked("Greek"),
    "hindi": marked("Hindi"),
    "hungarian": marked("Hungarian"),
    "indonesian": marked("Indonesian"),
    "italian": marked("Italian"),
    "japanese": marked("Japanese"),
    "korean": marked("Korean"),
    "norwegian": marked("Norwegian"),
    "persian": marked("Persian"),
    "polish": marked("Polish"),
    "portuguese": marked("Portuguese"),
    "romanian": marked("Romanian"),
    "russian": marked("Russian"),
    "serbian": marked("Serbian"),
    "spanish": marked("Spanish"),
    "swedish": marked("Swedish"),
    "tamil": marked("Tamil"),
    "turkish": marked("Turkish"),
}


def language_name(language: str) -> str:
    """ "english" -> "English"; empty where none was told apart."""
    return tr(_NAMES.get(language, language.capitalize()))
