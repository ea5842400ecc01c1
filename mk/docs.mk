# Manual pages and completion.
