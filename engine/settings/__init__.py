"""Every option of the program: declared once in `options`, read by `loading`, written by `saving`.

The file is TOML: `[defaults]`, overlaid by `[workspace."<folder>"]` for one workspace. Secrets have no place in it.
"""

from engine.settings.loading import load_settings, settings_path
from engine.settings.options import Settings
from engine.settings.saving import add_extra_path, save_setting, save_settings

__all__ = ["Settings", "add_extra_path", "load_settings", "save_setting", "save_settings", "settings_path"]
