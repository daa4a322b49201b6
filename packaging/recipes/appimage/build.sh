#!/usr/bin/env bash
# One file that runs on any Linux desktop as new as the machine it is built on: build.sh APPIMAGETOOL
# Needs dist/mnemoscope (python3 packaging/dev.py bundle) and the program appimagetool of the AppImage project.
# Tried: laying out the folder, and a version and a search by its AppRun on Debian 12. Not tried: appimagetool itself.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
folder=$root/build/Mnemoscope.AppDir
rm -rf "$folder"
mkdir -p "$folder/usr/lib"
cp -a "$root/dist/mnemoscope" "$folder/usr/lib/mnemoscope"
mv "$folder/usr/lib/mnemoscope/share" "$folder/usr/share"
cp "$folder/usr/share/applications/mnemoscope.desktop" "$folder/"
cp "$folder/usr/share/icons/hicolor/256x256/apps/mnemoscope.png" "$folder/"
cat > "$folder/AppRun" <<'RUN'
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/usr/lib/mnemoscope/mnemoscope" "$@"
RUN
chmod +x "$folder/AppRun"
if [ $# -eq 0 ]; then
    echo "$folder is ready; name appimagetool to make one file of it."
    exit
fi
exec "$1" "$folder" "$root/dist/Mnemoscope-$(uname -m).AppImage"
