package simplify

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"strings"
)

// rule replaces statements, or a whole function, by equivalent code. Both sides are Go code with placeholders: E_ begins the name of any
// expression, and S_ the name of any number of statements. All occurrences of a name match the same text.
type rule struct {
	name   string
	before string
	after  string
	where  func(texts map[string]string) bool // further condition on the texts of the placeholders, to which it may add; may be nil

	statements []ast.Stmt
	function   *ast.FuncDecl
}

// compile parses the field before.
func (r *rule) compile() error {
	text := "package p\n" + r.before
	if !strings.HasPrefix(strings.TrimSpace(r.before), "func (") && !strings.HasPrefix(strings.TrimSpace(r.before), "func E_") {
		text = "package p\nfunc _() {\n" + r.before + "\n}"
	}
	file, err := parser.ParseFile(token.NewFileSet(), r.name, text, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("rule %s: %w", r.name, err)
	}
	r.function = file.Decls[0].(*ast.FuncDecl) //nolint:forcetypeassert // the text is a function
	if r.function.Name.Name == "_" {
		r.statements, r.function = r.function.Body.List, nil
	}
	return nil
}

// expand returns the code in the field after, with the placeholders replaced by their texts.
func (r *rule) expand(texts map[string]string) string {
	var out strings.Builder
	rest := r.after
	for {
		at := strings.IndexFunc(rest, isName)
		if at < 0 {
			break
		}
		out.WriteString(rest[:at])
		rest = rest[at:]
		end := strings.IndexFunc(rest, func(c rune) bool { return !isName(c) })
		if end < 0 {
			end = len(rest)
		}
		word := rest[:end]
		if text, bound := texts[word]; bound {
			word = text
		}
		out.WriteString(word)
		rest = rest[end:]
	}
	out.WriteString(rest)
	return out.String()
}

func isName(c rune) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// match compares code with a rule's left side, and collects the texts of the placeholders.
type match struct {
	source []byte
	base   int
	texts  map[string]string
}

func (m *match) text(from, to token.Pos) string {
	return string(m.source[int(from)-m.base : int(to)-m.base])
}

func (m *match) bind(name, text string) bool {
	if bound, ok := m.texts[name]; ok {
		return bound == text
	}
	m.texts[name] = text
	return true
}

// prefix returns how many statements at the beginning of the list the pattern matches, or -1 if it does not match.
func (m *match) prefix(pattern, list []ast.Stmt) int {
	taken := 0
	for i, p := range pattern {
		if name := anyStatements(p); name != "" {
			for n := range len(list) - taken + 1 {
				saved := m.save()
				if m.bindStatements(name, list[taken:taken+n]) {
					if more := m.prefix(pattern[i+1:], list[taken+n:]); more >= 0 {
						return taken + n + more
					}
				}
				m.texts = saved
			}
			return -1
		}
		if taken == len(list) || !m.same(reflect.ValueOf(p), reflect.ValueOf(list[taken])) {
			return -1
		}
		taken++
	}
	return taken
}

// whole reports whether the pattern matches the whole list.
func (m *match) whole(pattern, list []ast.Stmt) bool {
	if n := len(pattern); n > 0 {
		if name := anyStatements(pattern[n-1]); name != "" {
			taken := m.prefix(pattern[:n-1], list)
			return taken >= 0 && m.bindStatements(name, list[taken:])
		}
	}
	return m.prefix(pattern, list) == len(list)
}

func (m *match) save() map[string]string {
	return maps.Clone(m.texts)
}

func (m *match) bindStatements(name string, list []ast.Stmt) bool {
	if len(list) == 0 {
		return m.bind(name, "")
	}
	return m.bind(name, m.text(list[0].Pos(), list[len(list)-1].End()))
}

// anyStatements returns the name of a placeholder for statements or for the cases of a switch, or "" if s is none.
func anyStatements(s ast.Stmt) string {
	if clause, ok := s.(*ast.CaseClause); ok && len(clause.List) == 1 && len(clause.Body) == 0 {
		if name, ok := clause.List[0].(*ast.Ident); ok && strings.HasPrefix(name.Name, "S_") {
			return name.Name
		}
	}
	if e, ok := s.(*ast.ExprStmt); ok {
		if name, ok := e.X.(*ast.Ident); ok && strings.HasPrefix(name.Name, "S_") {
			return name.Name
		}
	}
	return ""
}

var (
	positions  = reflect.TypeFor[token.Pos]()
	comments   = reflect.TypeFor[*ast.CommentGroup]()
	statements = reflect.TypeFor[[]ast.Stmt]()
	identifier = reflect.TypeFor[*ast.Ident]()
)

// same reports whether a node of the pattern matches a node of the source.
func (m *match) same(p, n reflect.Value) bool {
	if !p.IsValid() || !n.IsValid() {
		return p.IsValid() == n.IsValid()
	}
	if p.Kind() == reflect.Interface {
		return m.same(p.Elem(), n.Elem())
	}
	if n.Kind() == reflect.Interface {
		n = n.Elem()
	}
	if p.Type() == identifier && !p.IsNil() {
		name := p.Interface().(*ast.Ident).Name //nolint:forcetypeassert // of this type
		if strings.HasPrefix(name, "E_") {
			node, ok := reflect.TypeAssert[ast.Expr](n)
			return ok && !n.IsNil() && m.bind(name, m.text(node.Pos(), node.End()))
		}
	}
	if p.Type() != n.Type() {
		return false
	}
	switch p.Type() {
	case positions, comments:
		return true
	case statements:
		return m.whole(p.Interface().([]ast.Stmt), n.Interface().([]ast.Stmt)) //nolint:forcetypeassert // of this type
	}
	return m.sameParts(p, n)
}

func (m *match) sameParts(p, n reflect.Value) bool {
	switch p.Kind() {
	case reflect.Pointer:
		return p.IsNil() == n.IsNil() && (p.IsNil() || m.same(p.Elem(), n.Elem()))
	case reflect.Struct:
		for i := range p.NumField() {
			if !m.same(p.Field(i), n.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if p.Len() != n.Len() {
			return false
		}
		for i := range p.Len() {
			if !m.same(p.Index(i), n.Index(i)) {
				return false
			}
		}
		return true
	default:
		return p.Interface() == n.Interface()
	}
}
