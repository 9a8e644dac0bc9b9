package arch

import (
	"go/ast"
	"strings"
)

// checkService reports structs with a constructor New... that accepts a Config or ...Config, and with an exported field that holds this
// configuration. checkEmbedding reports embedded configurations.
func checkService(p *pkg) []Violation {
	built := map[string]string{} // configurations by the name of the type that is built from them
	for _, f := range p.production() {
		for _, decl := range f.syntax.Decls {
			if made, config := constructor(decl); made != "" {
				built[made] = config
			}
		}
	}
	var found []Violation
	for _, f := range p.production() {
		for _, s := range structs(f.syntax) {
			config := built[s.name.Name]
			for _, field := range s.fields.List {
				if config != "" && typeName(field.Type) == config && shows(field) {
					text := s.name.Name + " shows its " + config + ": keep it in an unexported field"
					found = append(found, Violation{f.path, f.line(field.Pos()), text})
				}
			}
		}
	}
	return found
}

// constructor returns the exported type that a function New... returns, and the configuration that it accepts. Both are "" for any other
// declaration.
func constructor(decl ast.Decl) (made, config string) {
	f, ok := decl.(*ast.FuncDecl)
	if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "New") || f.Type.Results == nil || len(f.Type.Results.List) == 0 {
		return "", ""
	}
	for _, param := range f.Type.Params.List {
		if name := typeName(param.Type); strings.HasSuffix(name, "Config") {
			config = name
		}
	}
	if made = typeName(f.Type.Results.List[0].Type); config == "" || !ast.IsExported(made) {
		return "", ""
	}
	return made, config
}

// shows reports whether a field is exported. It returns false for an embedded field, which checkEmbedding reports.
func shows(field *ast.Field) bool {
	for _, name := range field.Names {
		if name.IsExported() {
			return true
		}
	}
	return false
}

// typeName returns the name of a type of this package, or of a pointer to such a type. It returns "" for any other type.
func typeName(expr ast.Expr) string {
	expr = unstarred(expr)
	if id, ok := expr.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// structType is a struct type that a file declares.
type structType struct {
	name   *ast.Ident
	fields *ast.FieldList
}

func structs(f *ast.File) []structType {
	var found []structType
	for _, decl := range f.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok {
				if s, ok := t.Type.(*ast.StructType); ok {
					found = append(found, structType{t.Name, s.Fields})
				}
			}
		}
	}
	return found
}
