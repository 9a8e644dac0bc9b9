package arch

import (
	"bytes"
	"fmt"
	"go/ast"
)

// These constants are the maximum length of a file and of a function, in lines. Neither applies to generated code, and functions in tests
// may be longer.
const (
	maxFileLines     = 500
	maxFunctionLines = 80
)

// checkSize reports files and functions that exceed the maximum length.
func checkSize(f *goFile) []Violation {
	if f.generated {
		return nil
	}
	var found []Violation
	if lines := bytes.Count(f.content, []byte("\n")); lines > maxFileLines {
		found = append(found, Violation{Path: f.path, Text: fmt.Sprintf("%d lines, %d are the limit", lines, maxFileLines)})
	}
	if f.test {
		return found
	}
	for _, decl := range f.syntax.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		first, last := f.line(function.Pos()), f.line(function.End())
		if lines := last - first + 1; lines > maxFunctionLines {
			text := fmt.Sprintf("%s has %d lines, %d are the limit", function.Name.Name, lines, maxFunctionLines)
			found = append(found, Violation{f.path, first, text})
		}
	}
	return found
}
