package simplify

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

func reflectOf(v any) reflect.Value { return reflect.ValueOf(v) }

// accessor matches the comment of a method that reads or writes one exported field.
var accessor = regexp.MustCompile(`^// (Get|Set)\w+ (returns|sets) the value of \w+\.$`)

// status is the only accessor that stays, because programs use it to read the errors of all areas' clients.
const status = "GetStatusCode"

// unused matches names in the server and client that nothing uses after the simplification. Invoker is an interface of the whole client. A
// caller can declare an interface with just the required operations instead.
var unused = regexp.MustCompile(`^(FindRoute|Invoker|codeRecorder)$`)

// dropUnused deletes unused declarations, and the accessors of exported fields except GetStatusCode.
func dropUnused(f *file) {
	for _, decl := range f.tree.Decls {
		var doc *ast.CommentGroup
		drop := false
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			doc = decl.Doc
			drop = unused.MatchString(decl.Name.Name) || decl.Recv != nil && unused.MatchString(strings.TrimPrefix(f.text(decl.Recv.List[0].Type), "*")) ||
				doc != nil && len(doc.List) == 1 && accessor.MatchString(doc.List[0].Text) && decl.Name.Name != status
		case *ast.GenDecl:
			doc = decl.Doc
			if len(decl.Specs) == 1 && decl.Tok == token.TYPE {
				drop = unused.MatchString(decl.Specs[0].(*ast.TypeSpec).Name.Name) //nolint:forcetypeassert // of a type
			}
		}
		if drop {
			from := decl.Pos()
			if doc != nil {
				from = doc.Pos()
			}
			f.replace(from, decl.End(), "")
		}
	}
}

// errorDecoder matches ogen's code that decodes the answer of a failed operation. The code is the same for every operation.
var errorDecoder = compiled(rule{
	name:   "an error of the client",
	before: `defRes, err := func() (res *ErrorStatusCodeWithHeaders, err error) { S_body }()`,
})

// shareErrors adds one function that decodes the answer of a failed operation, for all operations.
func shareErrors(f *file) {
	body := ""
	for _, decl := range f.tree.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		for i := range function.Body.List {
			m := f.match()
			if m.prefix(errorDecoder.statements, function.Body.List[i:]) != 1 {
				continue
			}
			if body != "" && body != m.texts["S_body"] {
				panic("operations have errors of several kinds")
			}
			body = m.texts["S_body"]
		}
	}
	if body != "" {
		end := f.tree.End()
		f.replace(end, end, "\n\n// decodeError reads the answer of an operation that failed.\n"+
			"func decodeError(resp *http.Response) (res *ErrorStatusCodeWithHeaders, err error) {\n"+body+"\n}\n")
	}
}

// mergeSends replaces each method that only calls a send method by that send method.
func mergeSends(f *file) {
	callers := map[string]*ast.FuncDecl{}
	for _, decl := range f.tree.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Recv == nil {
			continue
		}
		if caller := callers[strings.TrimPrefix(function.Name.Name, "send")]; caller != nil && strings.HasPrefix(function.Name.Name, "send") {
			f.replace(caller.Pos(), function.Pos(), "")
			f.replace(function.Name.Pos(), function.Name.End(), caller.Name.Name)
		}
		if body := f.text(function.Body); strings.HasPrefix(strings.TrimSpace(strings.Trim(body, "{}")), "return c.send"+function.Name.Name+"(") {
			callers[function.Name.Name] = function
		}
	}
}

// repeated matches comments that only repeat the name of a method.
var repeated = regexp.MustCompile(`^// (Encode (implements json\.Marshaler|encodes \S+ as json)|Decode decodes \S+ from json|MarshalJSON implements stdjson\.Marshaler` +
	`|UnmarshalJSON implements stdjson\.Unmarshaler|MarshalText implements encoding\.TextMarshaler|UnmarshalText implements encoding\.TextUnmarshaler` +
	`|AllValues returns all \S+ values|encodeFields (encodes fields|implements json\.Marshaler)|setDefaults set default value of fields)\.$`)

// dropComments deletes comments that only repeat the name, and the comments of unexported functions, because the handler's interface also
// contains the descriptions of operations. It deletes recordError if nothing calls it.
func dropComments(f *file) {
	for _, decl := range f.tree.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if ok && function.Name.Name == "recordError" && strings.Count(string(f.source), "recordError(") == 1 {
			f.replace(function.Pos(), function.End(), "")
			continue
		}
		if ok && function.Doc != nil && (!function.Name.IsExported() || len(function.Doc.List) == 1 && repeated.MatchString(function.Doc.List[0].Text)) {
			f.replace(function.Doc.Pos(), function.Pos(), "")
		}
	}
}

// shortenLiterals omits the zero fields of literals of the packages validate and uri, and writes the other fields on one line.
func shortenLiterals(f *file) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		name, ok := literal.Type.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := name.X.(*ast.Ident); !ok || pkg.Name != "validate" && pkg.Name != "uri" || name.Sel.Name == "FieldError" {
			return true
		}
		var kept []string
		for _, element := range literal.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			switch text := f.text(pair.Value); text {
			case "0", "false", "nil", `""`:
			default:
				kept = append(kept, f.text(pair.Key)+": "+text)
			}
		}
		f.replace(literal.Pos(), literal.End(), f.text(literal.Type)+"{"+strings.Join(kept, ", ")+"}")
		return false
	})
}

func (f *file) text(n ast.Node) string {
	return string(f.source[int(n.Pos())-f.base : int(n.End())-f.base])
}

const codec = "github.com/callwright/callwright/transport/oas/internal/codec"

// mendImports deletes unused imports, and adds the import of package codec if it is used.
func mendImports(name string, source []byte) ([]byte, error) {
	tree, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok {
				used[pkg.Name] = true
			}
		}
		return true
	})
	f, err := parse(name, source)
	if err != nil {
		return nil, err
	}
	for _, decl := range f.tree.Decls {
		imports, ok := decl.(*ast.GenDecl)
		if !ok || imports.Tok != token.IMPORT || !imports.Rparen.IsValid() {
			continue
		}
		kept := 0
		for _, s := range imports.Specs {
			spec := s.(*ast.ImportSpec) //nolint:forcetypeassert // of an import
			importPath, _ := strconv.Unquote(spec.Path.Value)
			local := path.Base(importPath)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			if used[local] {
				kept++
			} else {
				f.replace(spec.Pos(), spec.End(), "")
			}
		}
		if used["codec"] && !bytes.Contains(source, []byte(strconv.Quote(codec))) {
			f.replace(imports.Rparen, imports.Rparen, "\n"+strconv.Quote(codec)+"\n")
		} else if kept == 0 {
			f.edits = nil
			f.replace(imports.Pos(), imports.End(), "")
		}
		break
	}
	return f.edited(), nil
}
