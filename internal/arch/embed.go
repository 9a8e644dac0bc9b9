package arch

import (
	"go/ast"
	"strings"
)

// checkEmbedding reports structs that embed a configuration. The embedded fields would be exported, so that callers could replace a store
// or a key after New has checked it.
func checkEmbedding(f *goFile) []Violation {
	if f.test {
		return nil
	}
	var found []Violation
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		structure, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range structure.Fields.List {
			if len(field.Names) == 0 && strings.HasSuffix(lastName(unstarred(field.Type)), "Config") {
				text := "embeds a configuration: keep it in an unexported field"
				found = append(found, Violation{f.path, f.line(field.Pos()), text})
			}
		}
		return true
	})
	return found
}

// unstarred returns the element type of a pointer type, and every other type unchanged.
func unstarred(expr ast.Expr) ast.Expr {
	if star, ok := expr.(*ast.StarExpr); ok {
		return star.X
	}
	return expr
}
