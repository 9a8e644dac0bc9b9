package arch

import (
	"go/ast"
	"go/doc"
	"slices"
	"strings"
)

// checkExamples checks that every package that other modules can import has an Example with output in its external tests. Suites whose
// functions all require a test are exempt.
func checkExamples(p *pkg) []Violation {
	folders := strings.Split(p.dir, "/")
	var tests []*ast.File
	suite, code := strings.HasSuffix(p.name, "test"), false
	for _, f := range p.files {
		switch {
		case !f.test:
			code, suite = true, suite && needsTest(f.syntax)
		case strings.HasSuffix(f.syntax.Name.Name, "_test"):
			tests = append(tests, f.syntax)
		}
	}
	runs := func(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput }
	if !code || suite || slices.Contains(programs, folders[0]) || slices.Contains(folders, "internal") ||
		slices.ContainsFunc(doc.Examples(tests...), runs) {
		return nil
	}
	text := "has no Example: show the first use of package " + p.name + " in example_test.go, with an // Output: comment"
	return []Violation{{Path: p.dir, Text: text}}
}

// needsTest reports whether the first parameter of every exported function in a file is a test, as in takesTest.
func needsTest(f *ast.File) bool {
	return !slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		function, ok := d.(*ast.FuncDecl)
		return ok && function.Recv == nil && function.Name.IsExported() && !takesTest(function.Type.Params)
	})
}

// takesTest reports whether the first parameter is a *testing.T, a *testing.B or a testing.TB.
func takesTest(params *ast.FieldList) bool {
	if len(params.List) == 0 {
		return false
	}
	selector, ok := unstarred(params.List[0].Type).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	room, ok := selector.X.(*ast.Ident)
	return ok && room.Name == "testing"
}
