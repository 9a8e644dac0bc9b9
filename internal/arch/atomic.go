package arch

import (
	"go/ast"
	"path"
)

// onceFile is the only file of the HTTP handlers that may open a transaction, for idempotent answers.
const onceFile = "once.go"

// handlers is the folder of the HTTP handlers.
const handlers = "transport/httpapi"

// checkAtomic reports HTTP handlers that open a transaction. A handler translates the request and calls one method of a domain, and this
// method opens transactions.
func checkAtomic(p *pkg, f *goFile) []Violation {
	if f.test || !within(p.dir, handlers) || path.Base(f.path) == onceFile {
		return nil
	}
	var found []Violation
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if do, ok := call.Fun.(*ast.SelectorExpr); ok && do.Sel.Name == "Do" && lastName(do.X) == "Atomic" {
			found = append(found, Violation{f.path, f.line(call.Pos()), "opens a transaction: the domain's method does"})
		}
		return true
	})
	return found
}

// lastName returns the last name of a selector such as a.cfg.Atomic, or "" if the expression is neither a name nor a selector.
func lastName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	default:
		return ""
	}
}
