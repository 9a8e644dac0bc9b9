package arch

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// ignore holds the patterns of the top .gitignore. Two forms are understood, which is all that file may use:
// "/path" or "/path/" for something at its path from the top, and a pattern without a slash, such as "*.test", for a name anywhere.
type ignore []string

// readIgnore reads .gitignore; a tree without one ignores nothing.
func readIgnore(fsys fs.FS) (ignore, error) {
	content, err := fs.ReadFile(fsys, ".gitignore")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var patterns ignore
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, strings.TrimSuffix(line, "/"))
		}
	}
	return patterns, err
}

// match reports whether a path of the tree is ignored.
func (i ignore) match(name string) bool {
	for _, pattern := range i {
		candidate := path.Base(name)
		if top, anchored := strings.CutPrefix(pattern, "/"); anchored {
			pattern, candidate = top, name
		}
		if ok, err := path.Match(pattern, candidate); ok && err == nil {
			return true
		}
	}
	return false
}
