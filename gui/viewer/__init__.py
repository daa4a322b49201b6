"""The file viewer: one note or transcript with the found lines in view."""
