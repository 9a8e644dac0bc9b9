package arch

import (
	"go/ast"
	"go/token"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// checkConfigs reports configurations that declare their own Clock, IDs or Logger instead of embedding callwright.Runtime. It also reports
// code that checks for missing fields itself, because callwright.PrepareConfig checks them by their tags.
func checkConfigs(p *pkg) []Violation {
	var found []Violation
	prepared := map[string]bool{} // parameter types of the functions that call PrepareConfig
	for _, f := range p.production() {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if prepares(n) {
					for _, name := range parameterTypes(n) {
						prepared[name] = true
					}
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && namesMissing.MatchString(text) {
					found = append(found, Violation{f.path, f.line(n.Pos()), "names a missing field: give the field a tag such as `required:\"always\"` and call callwright.PrepareConfig"})
				}
			}
			return true
		})
	}
	for _, f := range p.production() {
		for _, s := range structs(f.syntax) {
			found = append(found, checkConfig(f, s, prepared[s.name.Name])...)
		}
	}
	return found
}

// namesMissing matches the text of an error for a missing field of a Config, or the beginning of this text.
var namesMissing = regexp.MustCompile(`^\w+: \w*Config\.([\w, .]* (is|are) required)?$`)

// checkConfig checks the fields of a struct. prepared means that a function of the package passes the struct to PrepareConfig.
func checkConfig(f *goFile, s structType, prepared bool) []Violation {
	var found []Violation
	for _, field := range s.fields.List {
		if tag := fieldTag(field); tag != "" && !prepared {
			found = append(found, Violation{f.path, f.line(field.Pos()), "has a required field, but no function of this package gives it to callwright.PrepareConfig"})
		} else if tag != "" && !conditions.MatchString(tag) {
			found = append(found, Violation{f.path, f.line(field.Pos()), "has an unknown tag: a field is required always, with another field or without it"})
		}
		if !strings.HasSuffix(s.name.Name, "Config") {
			continue
		}
		switch name := lastName(unstarred(field.Type)); {
		case name == "Clock", name == "IDs", name == "Logger":
			found = append(found, Violation{f.path, f.line(field.Pos()), "has a " + name + " of its own: embed callwright.Runtime"})
		}
	}
	return found
}

// conditions matches the valid values of the tag "required".
var conditions = regexp.MustCompile(`^(always|with(out)? [A-Z]\w*)$`)

// fieldTag returns the value of a field's tag "required", or "" if there is none.
func fieldTag(field *ast.Field) string {
	if field.Tag == nil {
		return ""
	}
	text, _ := strconv.Unquote(field.Tag.Value)
	return reflect.StructTag(text).Get("required")
}

// prepares reports whether the body of a function calls PrepareConfig.
func prepares(fn *ast.FuncDecl) bool {
	calls := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && lastName(call.Fun) == "PrepareConfig" {
			calls = true
		}
		return !calls
	})
	return calls
}

// parameterTypes returns the names of the types of a function's receiver and parameters.
func parameterTypes(fn *ast.FuncDecl) []string {
	var names []string
	for _, list := range []*ast.FieldList{fn.Recv, fn.Type.Params} {
		if list != nil {
			for _, field := range list.List {
				names = append(names, lastName(unstarred(field.Type)))
			}
		}
	}
	return names
}
