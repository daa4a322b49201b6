"""The providers that send nothing: the model in the package, and a model file of the user."""

from engine.base.language import marked
from engine.providers import Provider

EMBEDDED = Provider(
    name="embedded",
    label=marked("Built-in model"),
    sentence=marked("Works immediately, on this machine, in 16 languages. No key, no cost."),
    module="embedded_model",
)
GGUF = Provider(
    name="gguf",
    label=marked("Model file (GGUF)"),
    sentence=marked("A model file runs on this machine: slower than the built-in model, and better."),
    aliases=("local", "llama-cpp", "node-llama-cpp"),
    module="gguf",
)
