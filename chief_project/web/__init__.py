"""Pages for people. They combine what several apps know, so they stand above all of them; they hold no rule."""
