package arch

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// ignore holds the patterns of the .gitignore at the root. Only two forms are supported: "/path" or "/path/" for one path from the root,
// and a pattern without a slash, such as "*.test", for a name in any folder.
type ignore []string

// readIgnore reads .gitignore. Without such a file it returns no patterns.
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

// match reports whether a pattern matches a path of the tree.
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
