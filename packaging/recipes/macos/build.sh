#!/usr/bin/env bash
# Mnemoscope.app and a disk image of it, on a Mac: build.sh [SIGNING IDENTITY]
# Not tried: no Mac was at hand. What the bundle's recipe does for a Mac (an .app with icon and the scheme mnemoscope://,
# see packaging/building/mnemoscope.spec) follows PyInstaller's documentation. Without an identity the app is signed for
# this Mac alone; others need a Developer ID and notarisation (the last two lines).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
identity=${1:--}
python3 "$root/packaging/dev.py" bundle
app=$root/dist/Mnemoscope.app
codesign --force --deep --options runtime --sign "$identity" "$app"
codesign --verify --deep --strict "$app"
staging=$root/build/dmg
rm -rf "$staging" && mkdir -p "$staging"
cp -R "$app" "$staging/"
ln -s /Applications "$staging/Applications"
hdiutil create -volname Mnemoscope -srcfolder "$staging" -ov -format UDZO "$root/dist/Mnemoscope.dmg"
# xcrun notarytool submit "$root/dist/Mnemoscope.dmg" --keychain-profile PROFILE --wait
# xcrun stapler staple "$root/dist/Mnemoscope.dmg"
