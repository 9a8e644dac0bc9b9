package simplify

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// object matches ogen's decoder of an object type, after the other rules were applied.
var object = compiled(rule{name: "an object", before: `func (s *E_T) Decode(d *jx.Decoder) error {
	if s == nil { return errors.New(E_nil) }
	S_before
	if err := d.ObjBytes(func(d *jx.Decoder, k []byte) error { S_body }); err != nil { return errors.Wrap(err, E_name) }
	S_after
}`})

// wrapped matches ogen's code that decodes one member.
var wrapped = compiled(rule{name: "a member", before: `if err := E_x; err != nil { return errors.Wrap(err, E_text) }`})

var (
	seenMembers  = regexp.MustCompile(`var requiredBitSet \[\d+\]uint8\s*`)
	seenMember   = regexp.MustCompile(`^requiredBitSet\[\d+\] \|= 1 << \d+$`)
	nothingAfter = regexp.MustCompile(`^return nil$`)
	askRequired  = regexp.MustCompile(`(?s)^var failures codec\.Failures\s+for i, mask := range \[\d+\]uint8\{([^}]*)\} \{\s+if result := .*return failures\.Err\(\)$`)
	oneMask      = regexp.MustCompile(`0b[01]+`)
	membersName  = regexp.MustCompile(`^jsonFieldsNameOf(\w+)$`)
)

// mostMembers equals MostMembers of package codec.
const mostMembers = 128

func compiled(r rule) *rule {
	if err := r.compile(); err != nil {
		panic(err)
	}
	return &r
}

// decodeObjects replaces decoders of objects by calls of codec.Object, which records the decoded members, wraps errors and reports missing
// required members.
func decodeObjects(f *file) {
	members, places := memberNames(f)
	for _, decl := range f.tree.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Name.Name != "Decode" {
			continue
		}
		m := f.match()
		clone := *function
		clone.Doc = nil
		if !m.same(reflectOf(object.function), reflectOf(&clone)) {
			continue
		}
		name := m.texts["E_T"]
		names, known := members[name]
		if !known || len(names) > mostMembers {
			continue
		}
		text, masks, ok := objectDecoder(m.texts, names)
		if !ok {
			continue
		}
		place := places[name]
		f.replace(place.Pos(), place.End(), "var objectOf"+name+" = codec.Object{\nType: "+strconv.Quote(name)+",\nMembers: []string{"+
			wrap(quoted(names))+"},\n"+masks+"}")
		f.replace(function.Pos(), function.End(), text)
	}
}

// memberNames returns the member names of each type, in the contract's order, and the declaration that contains them.
func memberNames(f *file) (map[string][]string, map[string]*ast.GenDecl) {
	members, places := map[string][]string{}, map[string]*ast.GenDecl{}
	for _, decl := range f.tree.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.VAR || len(general.Specs) != 1 {
			continue
		}
		spec := general.Specs[0].(*ast.ValueSpec) //nolint:forcetypeassert // of a variable
		found := membersName.FindStringSubmatch(spec.Names[0].Name)
		if found == nil {
			continue
		}
		names := []string{}
		for _, element := range spec.Values[0].(*ast.CompositeLit).Elts { //nolint:forcetypeassert // ogen's list of names
			pair := element.(*ast.KeyValueExpr) //nolint:forcetypeassert // ogen writes the index
			text, err := strconv.Unquote(f.text(pair.Value))
			if err != nil {
				panic(err)
			}
			names = append(names, text)
		}
		members[found[1]], places[found[1]] = names, general
	}
	return members, places
}

// objectDecoder returns the simplified decoder of an object, and the line with its required members. ok is false if ogen's decoder does
// more than codec.Object can.
func objectDecoder(texts map[string]string, names []string) (decoder, masks string, ok bool) {
	name := texts["E_T"]
	if !strings.HasSuffix(texts["E_name"], " "+name+`"`) {
		return "", "", false
	}
	before := strings.TrimSpace(seenMembers.ReplaceAllString(texts["S_before"], ""))
	if before != "" && before != "s.setDefaults()" {
		return "", "", false
	}
	if required := askRequired.FindStringSubmatch(texts["S_after"]); required != nil {
		masks = "Required: []uint8{" + strings.Join(oneMask.FindAllString(required[1], -1), ", ") + "},\n"
	} else if !nothingAfter.MatchString(texts["S_after"]) {
		return "", "", false
	}
	body, ok := memberCases(texts["S_body"], names)
	if !ok {
		return "", "", false
	}
	if before != "" {
		before = "if s == nil {\nreturn codec.Nil(" + strconv.Quote(name) + ")\n}\n" + before + "\n"
	}
	return fmt.Sprintf("func (s *%s) Decode(d *jx.Decoder) error {\n%sreturn objectOf%s.Decode(d, s == nil, func(d *jx.Decoder, k []byte) (int, error) {\n%s\n})\n}",
		name, before, name, body), masks, true
}

// memberCases converts the body of the function that decodes a member, so that the function also returns the member's index. It returns
// false if the body has an unexpected form.
func memberCases(body string, names []string) (string, bool) {
	f, list := parseStatements(body)
	choice, ok := list[0].(*ast.SwitchStmt)
	if !ok || f.text(choice.Tag) != "string(k)" {
		return "", false
	}
	var out strings.Builder
	out.WriteString("switch string(k) {\n")
	last := "return -1, nil"
	for _, s := range choice.Body.List {
		clause := s.(*ast.CaseClause) //nolint:forcetypeassert // of a switch
		text, returns, ok := memberCase(f, clause, names)
		if !ok || clause.List != nil && !returns {
			return "", false
		}
		if clause.List != nil {
			out.WriteString("case " + f.text(clause.List[0]) + ":\n" + text + "\n")
			continue
		}
		if last = text; !returns {
			last += "\nreturn -1, nil"
		}
	}
	return out.String() + "}\n" + last, true
}

// memberCase returns the statements that decode one member, and whether they end with a return. ok is false if the case has an unexpected
// form.
func memberCase(f *file, clause *ast.CaseClause, names []string) (text string, returns, ok bool) {
	list := clause.Body
	noted := len(list) > 0 && seenMember.MatchString(f.text(list[0]))
	if noted {
		list = list[1:]
	}
	if len(clause.List) == 1 && len(list) == 1 {
		label, err := strconv.Unquote(f.text(clause.List[0]))
		m := f.match()
		if err == nil && m.prefix(wrapped.statements, list) == 1 && m.texts["E_text"] == strconv.Quote("decode field "+strconv.Quote(label)) {
			for i, name := range names {
				if name == label {
					return returning(m.texts["E_x"], i), true, true
				}
			}
		}
	}
	if noted || len(list) == 0 {
		return "", false, false
	}
	_, returns = list[len(list)-1].(*ast.ReturnStmt)
	return withIndex(f, list, -1), returns, true
}

// returning returns statements that return the index i and the value of an expression. It unwraps a closure that is called immediately.
func returning(expression string, i int) string {
	if body, ok := strings.CutPrefix(expression, "func() error {"); ok && strings.HasSuffix(body, "}()") {
		f, list := parseStatements(strings.TrimSuffix(body, "}()"))
		return withIndex(f, list, i)
	}
	return fmt.Sprintf("return %d, %s", i, expression)
}

// withIndex returns the text of the statements, with an index inserted before the results of all return statements except in closures.
func withIndex(f *file, list []ast.Stmt, index int) string {
	f.edits = nil
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				f.replace(n.Results[0].Pos(), n.Results[0].Pos(), strconv.Itoa(index)+", ")
			}
			return true
		})
	}
	from, to := int(list[0].Pos())-f.base, int(list[len(list)-1].End())-f.base
	part := &file{source: f.source[:to], edits: f.edits}
	return string(part.edited()[from:])
}

// parseStatements parses a text as the body of a function. It panics if the text is invalid.
func parseStatements(text string) (*file, []ast.Stmt) {
	source := "package p\nfunc _() error {\n" + text + "\n}\n"
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	return &file{source: []byte(source), tree: tree, base: set.File(tree.Pos()).Base()}, tree.Decls[0].(*ast.FuncDecl).Body.List //nolint:forcetypeassert // the function
}

func quoted(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = strconv.Quote(text)
	}
	return out
}

// wrap joins the items of a list on one line, or on separate lines of up to 110 bytes if they are too long for it.
func wrap(items []string) string {
	const width = 110
	if line := strings.Join(items, ", "); len(line) <= width-20 {
		return line
	}
	var out strings.Builder
	column := width
	for _, item := range items {
		if column+len(item)+2 > width {
			out.WriteString("\n")
			column = 0
		}
		out.WriteString(item + ", ")
		column += len(item) + 2
	}
	return strings.ReplaceAll(out.String(), ", \n", ",\n") + "\n"
}

var (
	encodeObject = compiled(rule{name: "an object", before: `func (s E_T) Encode(e *jx.Encoder) { e.ObjStart(); s.encodeFields(e); e.ObjEnd() }`})
	encodeFields = compiled(rule{name: "members", before: `func (s E_T) encodeFields(e *jx.Encoder) { S_body }`})
)

// mergeEncoders moves the code of encodeFields into the encoder of its type, unless another type calls encodeFields.
func mergeEncoders(f *file) {
	bodies, encoders, fields := map[string]string{}, map[string]*ast.FuncDecl{}, map[string]*ast.FuncDecl{}
	for _, decl := range f.tree.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Recv == nil {
			continue
		}
		clone := *function
		clone.Doc = nil
		m := f.match()
		if m.same(reflectOf(encodeObject.function), reflectOf(&clone)) {
			encoders[strings.TrimPrefix(m.texts["E_T"], "*")] = function
		}
		m = f.match()
		if m.same(reflectOf(encodeFields.function), reflectOf(&clone)) {
			name := strings.TrimPrefix(m.texts["E_T"], "*")
			bodies[name], fields[name] = m.texts["S_body"], function
		}
	}
	for name, encoder := range encoders {
		function := fields[name]
		if function == nil || strings.Count(string(f.source), name+".encodeFields(e)") > 0 {
			continue
		}
		f.replace(encoder.Body.Lbrace+1, encoder.Body.Rbrace, "\ne.ObjStart()\n"+bodies[name]+"\ne.ObjEnd()\n")
		from := function.Pos()
		if function.Doc != nil {
			from = function.Doc.Pos()
		}
		f.replace(from, function.End(), "")
	}
}
