package arch

import (
	"go/ast"
	"path"
	"slices"
)

// checkSleep reports tests that sleep on the real clock, because they are slow on a fast machine and fail on a slow machine. It ignores
// files that import testing/synctest, whose fake clock makes sleeps free. It also ignores bench_test.go, because benchmarks measure real
// time.
func checkSleep(f *goFile) []Violation {
	if !f.test || path.Base(f.path) == "bench_test.go" || slices.ContainsFunc(f.syntax.Imports, func(spec *ast.ImportSpec) bool {
		return spec.Path.Value == `"testing/synctest"`
	}) {
		return nil
	}
	var found []Violation
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok || selector.Sel.Name != "Sleep" {
			return true
		}
		if name, ok := selector.X.(*ast.Ident); ok && name.Name == "time" {
			text := "sleeps: use testing/synctest or a fake clock, or wait for a condition with a deadline"
			found = append(found, Violation{f.path, f.line(selector.Pos()), text})
		}
		return true
	})
	return found
}
