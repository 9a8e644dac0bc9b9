package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/zip"
)

// file is a file of a module: its path in the module, and its path in the working tree.
type file struct{ name, at string }

// Path returns the path relative to the module.
func (f file) Path() string { return f.name }

// Lstat returns information about the file in the working tree.
func (f file) Lstat() (os.FileInfo, error) { return os.Lstat(f.at) }

// Open opens the file in the working tree.
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.at) }

// written is a file of a module whose text replaces the file in the working tree.
type written struct {
	file
	text []byte
}

// Open returns a reader of the text.
func (w written) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(w.text)), nil }

// Lstat returns information about the file in the working tree, but with the size of the text.
func (w written) Lstat() (os.FileInfo, error) {
	info, err := w.file.Lstat()
	return sized{info, int64(len(w.text))}, err
}

type sized struct {
	os.FileInfo
	size int64
}

// Size returns the size of the text.
func (s sized) Size() int64 { return s.size }

// tracked returns the files of a module that git tracks or would add, without the modules below its folder. mod replaces the text of its
// go.mod. For a module other than the root, the files include the repository's LICENSE.
func tracked(ctx context.Context, tree, folder string, mod []byte) ([]zip.File, error) {
	list := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir, list.Stderr = tree, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	names := strings.Split(strings.Trim(string(out), "\x00"), "\x00")
	below := map[string]bool{} // folders of other modules
	for _, name := range names {
		if path.Base(name) == "go.mod" && path.Dir(name) != filepath.ToSlash(folder) {
			below[path.Dir(name)] = true
		}
	}
	var files []zip.File
	for _, name := range names {
		inside, ok := name, folder == "."
		if !ok {
			inside, ok = strings.CutPrefix(name, filepath.ToSlash(folder)+"/")
		}
		if ok && inside == "go.mod" {
			files = append(files, written{file{inside, filepath.Join(tree, filepath.FromSlash(name))}, mod})
			continue
		}
		if ok && !within(below, path.Dir(name), folder) {
			files = append(files, file{inside, filepath.Join(tree, filepath.FromSlash(name))})
		}
	}
	if folder != "." {
		files = append(files, file{"LICENSE", filepath.Join(tree, "LICENSE")})
	}
	return files, nil
}

// within reports whether a folder belongs to one of the modules below the folder top.
func within(modules map[string]bool, folder, top string) bool {
	for ; folder != "." && folder != filepath.ToSlash(top); folder = path.Dir(folder) {
		if modules[folder] {
			return true
		}
	}
	return false
}
