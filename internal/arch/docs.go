package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// minDocumented is the minimum percentage of exported names with a comment.
const minDocumented = 95

// checkPackageComment checks that a file of the package begins its package comment with "Package" and the name. For package main any
// comment will do.
func checkPackageComment(p *pkg) []Violation {
	files := p.production()
	if len(files) == 0 {
		return nil
	}
	for _, f := range files {
		text := f.syntax.Doc.Text()
		if strings.HasPrefix(text, "Package "+p.name+" ") || (p.name == "main" && text != "") {
			return nil
		}
	}
	return []Violation{{Path: p.dir, Text: fmt.Sprintf("package %s has no comment that begins with its name", p.name)}}
}

// checkExported counts the exported names and their comments. If less than minDocumented percent have a comment, it reports every name
// without one.
func (r *Report) checkExported(packages []*pkg) {
	var bare []Violation
	for _, p := range packages {
		if p.name == "main" {
			continue
		}
		for _, f := range p.production() {
			for _, name := range exported(f.syntax) {
				r.Exported++
				if name.documented {
					r.Documented++
				} else {
					bare = append(bare, Violation{f.path, f.line(name.pos), name.text + " is exported and has no comment"})
				}
			}
		}
	}
	if r.Documented*100 < r.Exported*minDocumented {
		r.Violations = append(r.Violations, bare...)
	}
}

// exportedName is an exported name, with its position and whether it has a comment.
type exportedName struct {
	text       string
	pos        token.Pos
	documented bool
}

// exported returns the exported names that a file declares at its top level, including methods of exported types. A comment on a group of
// constants or variables documents all of its names.
func exported(f *ast.File) []exportedName {
	var names []exportedName
	add := func(id *ast.Ident, comments ...*ast.CommentGroup) {
		if !id.IsExported() {
			return
		}
		documented := false
		for _, c := range comments {
			documented = documented || c.Text() != ""
		}
		names = append(names, exportedName{id.Name, id.Pos(), documented})
	}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil || ast.IsExported(receiver(decl.Recv)) {
				add(decl.Name, decl.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name, decl.Doc, spec.Doc, spec.Comment)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add(id, decl.Doc, spec.Doc, spec.Comment)
					}
				}
			}
		}
	}
	return names
}

// receiver returns the name of the receiver's type, or "" if there is none.
func receiver(list *ast.FieldList) string {
	if len(list.List) == 0 {
		return ""
	}
	for expr := list.List[0].Type; ; {
		switch e := expr.(type) {
		case *ast.Ident:
			return e.Name
		case *ast.StarExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		default:
			return ""
		}
	}
}
