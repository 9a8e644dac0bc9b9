package arch

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// tools is the folder of the tools, each in its own module.
const tools = "internal/tools"

// module is the import path of the root package.
const module = "github.com/callwright/callwright"

// tree is the source tree: every file, and every package outside of tools and testdata.
type tree struct {
	files    []file
	packages []*pkg // one for each folder
}

// file is a file of the tree, with its path from the root.
type file struct {
	path    string
	content []byte
}

// pkg is a folder with Go files, including its external tests.
type pkg struct {
	dir   string // slash-separated; "." at the root
	name  string // name in the package clause
	files []*goFile
}

// goFile is a parsed Go file. In a generated file, only the package clause and the imports are parsed.
type goFile struct {
	file

	set       *token.FileSet
	syntax    *ast.File
	test      bool
	generated bool
}

// generatedMark matches the line that marks a generated Go file.
var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.\r?$`)

// generatedGo reports whether the mark precedes the package clause, as Go's tools require.
func generatedGo(content []byte) bool {
	head, _, _ := bytes.Cut(append([]byte("\n"), content...), []byte("\npackage "))
	return generatedMark.Match(head)
}

// line returns the number of the line at a position.
func (f *goFile) line(pos token.Pos) int { return f.set.Position(pos).Line }

// production returns the files of the package that are neither tests nor generated.
func (p *pkg) production() []*goFile {
	return slices.DeleteFunc(slices.Clone(p.files), func(f *goFile) bool { return f.test || f.generated })
}

// load reads the files that git does not ignore, and parses the Go files. Tools and testdata are not parsed.
func load(fsys fs.FS) (*tree, error) {
	ignored, err := readIgnore(fsys)
	if err != nil {
		return nil, err
	}
	t := &tree{}
	byDir := map[string]*pkg{}
	err = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && (entry.Name() == ".git" || ignored.match(name)):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		content, err := fs.ReadFile(fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted since the folder was listed, by an editor or another test
		}
		if err != nil {
			return err
		}
		f := file{name, content}
		t.files = append(t.files, f)
		if path.Ext(name) == ".go" && !within(name, tools) && !strings.Contains("/"+name, "/testdata/") {
			return t.add(byDir, f)
		}
		return nil
	})
	return t, err
}

// add parses a file and adds it to the package of its folder.
func (t *tree) add(byDir map[string]*pkg, f file) error {
	parsed := &goFile{file: f, set: token.NewFileSet(), test: strings.HasSuffix(f.path, "_test.go")}
	mode := parser.ParseComments | parser.SkipObjectResolution
	if generatedGo(f.content) {
		parsed.generated = true
		mode = parser.ImportsOnly | parser.ParseComments
	}
	var err error
	if parsed.syntax, err = parser.ParseFile(parsed.set, f.path, f.content, mode); err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	dir := path.Dir(f.path)
	p := byDir[dir]
	if p == nil {
		p = &pkg{dir: dir}
		byDir[dir] = p
		t.packages = append(t.packages, p)
	}
	if !parsed.test || p.name == "" {
		p.name = strings.TrimSuffix(parsed.syntax.Name.Name, "_test")
	}
	p.files = append(p.files, parsed)
	return nil
}

// within reports whether a folder is the folder top or lies below it.
func within(dir, top string) bool { return dir == top || strings.HasPrefix(dir, top+"/") }
