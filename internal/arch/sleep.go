package arch

import (
	"go/ast"
	"path"
	"slices"
)

// checkSleep reports a test that sleeps on the real clock: it is slow on a fast machine and fails on a slow one. In a
// file that imports testing/synctest a sleep is taken for one of the bubble's clock, which costs no time; and benchmarks,
// in bench_test.go, measure real time.
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
