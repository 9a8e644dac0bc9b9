package arch

import (
	"fmt"
	"go/ast"
	"unicode"
	"unicode/utf8"
)

// verbs maps other words for an act to the verb that this code base uses. CONTRIBUTING.md explains the table.
var verbs = map[string]string{
	"forget": "delete", "remove": "delete", "drop": "delete",
	"take": "claim or hold", "acquire": "claim or hold", "lease": "claim or hold",
	"settle": "finish", "conclude": "finish",
	"keep": "store", "put": "store", "save": "store",
}

// otherVerbs lists the exceptions with their reasons.
var otherVerbs = map[string]string{
	"KeepAlive":       "the keep-alive of RFC 5626",
	"RemoveAgent":     "an operation of the contract",
	"RemoveIssueFlag": "an operation of the contract",
}

// checkVerbs reports functions and methods outside of tests whose name begins with a word in verbs, except the names in otherVerbs.
func checkVerbs(f *goFile) []Violation {
	if f.test {
		return nil
	}
	var found []Violation
	check := func(name *ast.Ident) {
		first := firstWord(name.Name)
		verb, other := verbs[first]
		if _, excused := otherVerbs[name.Name]; !other || excused {
			return
		}
		text := fmt.Sprintf("%s begins with %s: the verb for this act is %s, see CONTRIBUTING.md", name.Name, first, verb)
		found = append(found, Violation{f.path, f.line(name.Pos()), text})
	}
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			check(node.Name)
		case *ast.InterfaceType:
			for _, method := range node.Methods.List {
				for _, name := range method.Names {
					check(name)
				}
			}
		}
		return true
	})
	return found
}

// firstWord returns the first word of a name in lower case.
func firstWord(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	end := len(name)
	for i, r := range name[size:] {
		if unicode.IsUpper(r) {
			end = size + i
			break
		}
	}
	return string(unicode.ToLower(first)) + name[size:end]
}
