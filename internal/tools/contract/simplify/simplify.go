// Package simplify shortens ogen's Go code without changing its behavior. ogen writes out each check, field and operation in full. A list
// of rules replaces repeated code by calls of the package transport/oas/internal/codec.
package simplify

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
)

// File returns the simplified text of a generated file, or nil if no declaration remains. name is the file's name in errors.
func File(name string, source []byte) ([]byte, error) {
	return simplify(name, source, func(string) {})
}

// simplify returns the result of File. It calls applied with the name of each rule that it applies.
func simplify(name string, source []byte, applied func(rule string)) ([]byte, error) {
	for _, step := range [...]func(*file){dropUnused, shortenLiterals, shareErrors, nil, decodeObjects, mergeEncoders, mergeSends, dropComments} {
		for again := true; again; {
			f, err := parse(name, source)
			if err != nil {
				return nil, err
			}
			f.applied = applied
			if again = step == nil; again {
				f.applyRules()
				again = len(f.edits) > 0
			} else {
				step(f)
			}
			source = f.edited()
		}
	}
	source, err := mendImports(name, source)
	if err != nil {
		return nil, err
	}
	f, err := parse(name, source)
	if err != nil || len(f.tree.Decls) == 0 {
		return nil, err
	}
	return format.Source(source)
}

// file is a parsed source file, with the edits to apply to it.
type file struct {
	source []byte
	tree   *ast.File
	base   int
	edits  []edit

	applied func(rule string)
}

type edit struct {
	from, to int
	text     string
}

func parse(name string, source []byte) (*file, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("%w in\n%s", err, source)
	}
	return &file{source: source, tree: tree, base: set.File(tree.Pos()).Base()}, nil
}

func (f *file) replace(from, to token.Pos, text string) {
	f.edits = append(f.edits, edit{int(from) - f.base, int(to) - f.base, text})
}

// edited returns the source with the edits applied. Edits must not overlap.
func (f *file) edited() []byte {
	slices.SortFunc(f.edits, func(a, b edit) int { return a.from - b.from })
	var out bytes.Buffer
	at := 0
	for _, e := range f.edits {
		out.Write(f.source[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(f.source[at:])
	return out.Bytes()
}

// applyRules records an edit for each match of a rule. Inner matches come first: code around an edit is matched in the next pass.
func (f *file) applyRules() {
	for _, decl := range f.tree.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Body == nil || f.inStatements(function.Body.List) {
			continue
		}
		for i := range rules {
			if r := &rules[i]; r.function != nil {
				m := f.match()
				clone := *function
				clone.Doc = nil
				if m.same(reflectOf(r.function), reflectOf(&clone)) && (r.where == nil || r.where(m.texts)) {
					f.applied(r.name)
					f.replace(function.Pos(), function.End(), r.expand(m.texts))
					break
				}
			}
		}
	}
}

func (f *file) match() *match {
	return &match{source: f.source, base: f.base, texts: map[string]string{}}
}

// inStatements records the edits in a list of statements, and reports whether it has recorded any.
func (f *file) inStatements(list []ast.Stmt) bool {
	changed := make([]bool, len(list))
	for i, s := range list {
		changed[i] = f.inNode(s)
	}
	for i := 0; i < len(list); {
		taken := f.tryRules(list[i:], changed[i:])
		for j := range taken {
			changed[i+j] = true
		}
		i += max(taken, 1)
	}
	return slices.Contains(changed, true)
}

func (f *file) inNode(node ast.Node) bool {
	changed := false
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			changed = f.inStatements(n.List) || changed
			return false
		case *ast.CaseClause:
			changed = f.inStatements(n.Body) || changed
			return false
		}
		return true
	})
	return changed
}

// tryRules applies the first matching rule to the beginning of a list. It returns the number of replaced statements, or 0 if no rule
// matches.
func (f *file) tryRules(list []ast.Stmt, changed []bool) int {
	for i := range rules {
		r := &rules[i]
		if r.function != nil {
			continue
		}
		m := f.match()
		taken := m.prefix(r.statements, list)
		if taken <= 0 || slices.Contains(changed[:taken], true) || r.where != nil && !r.where(m.texts) {
			continue
		}
		f.applied(r.name)
		f.replace(list[0].Pos(), list[taken-1].End(), r.expand(m.texts))
		return taken
	}
	return 0
}
