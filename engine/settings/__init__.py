"""Every option of the program: declared once in `options`, read by `loading`, written by `saving`.

In: a TOML file with `[defaults]`, overlaid by `[workspace."<folder>"]` for one workspace; it contains no secrets.
Out: a checked `Settings` record, and problems with the key and the line.
"""

from engine.settings.loading import load_settings, settings_path
from engine.settings.options import Settings

__all__ = ["Settings", "load_settings", "settings_path"]
