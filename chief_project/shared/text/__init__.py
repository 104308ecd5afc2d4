"""How words, ids, times and documents are shown on a page.

Everything here takes text that may be hostile and gives HTML that is safe in any element's content, or plain words.
"""
