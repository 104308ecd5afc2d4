"""How times are written on pages, by language (Django's ``FORMAT_MODULE_PATH``)."""
