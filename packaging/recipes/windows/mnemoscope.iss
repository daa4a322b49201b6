; An installer for Windows, made by Inno Setup 6 on Windows:
;     py packaging\dev.py bundle
;     iscc packaging\recipes\windows\mnemoscope.iss
; Not tried: no Windows was at hand. It installs for one person without an administrator, and removes what it installed;
; settings and indexes in the person's own folders stay.
#define Root "..\..\.."
#define Version "0.1.0"

[Setup]
AppId={{6B1D4C2E-52B7-4E0B-9B8E-7B0C0A6C6F11}
AppName=Mnemoscope
AppVersion={#Version}
AppPublisher=Mnemoscope maintainers
DefaultDirName={autopf}\Mnemoscope
DefaultGroupName=Mnemoscope
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
LicenseFile={#Root}\LICENSE
OutputDir={#Root}\dist
OutputBaseFilename=mnemoscope-{#Version}-setup
SetupIconFile={#Root}\build\icons\mnemoscope.ico
UninstallDisplayIcon={app}\mnemoscope-gui.exe
Compression=lzma2
SolidCompression=yes
ChangesEnvironment=yes

[Files]
Source: "{#Root}\dist\mnemoscope\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\Mnemoscope"; Filename: "{app}\mnemoscope-gui.exe"

[Registry]
; Links of the form mnemoscope:// open here.
Root: HKA; Subkey: "Software\Classes\mnemoscope"; ValueType: string; ValueData: "URL:Mnemoscope"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\mnemoscope"; ValueType: string; ValueName: "URL Protocol"; ValueData: ""
Root: HKA; Subkey: "Software\Classes\mnemoscope\shell\open\command"; ValueType: string; ValueData: """{app}\mnemoscope-gui.exe"" ""%1"""

[Run]
Filename: "{app}\mnemoscope-gui.exe"; Description: "Start Mnemoscope"; Flags: nowait postinstall skipifsilent
