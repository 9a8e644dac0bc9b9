package oas_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	"github.com/pb33f/libopenapi/datamodel/high/base"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

// document parses the contract with a library that the generator does not use.
func document(t *testing.T) (libopenapi.Document, *v3.Document) {
	t.Helper()
	text, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := libopenapi.NewDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	model, err := doc.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	return doc, &model.Model
}

// operations calls fn for every operation of the contract, except the operational pages, whose answers are texts. The tests of httpapi
// compare these pages with the contract.
func operations(doc *v3.Document, fn func(method, path string, op *v3.Operation)) {
	for path, item := range doc.Paths.PathItems.FromOldest() {
		for method, op := range item.GetOperations().FromOldest() {
			if !slices.Contains(op.Tags, "Operations") {
				fn(method, path, op)
			}
		}
	}
}

// extension returns the text of an operation's extension, or an empty text if the operation lacks the extension.
func extension(op *v3.Operation, name string) string {
	node, ok := op.Extensions.Get(name)
	if !ok {
		return ""
	}
	return node.Value
}

func TestContractIsOpenAPI(t *testing.T) {
	t.Parallel()
	doc, _ := document(t)
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if ok, problems := v.ValidateDocument(); !ok {
		for _, p := range problems {
			t.Errorf("%s: %s", p.Message, p.Reason)
			for _, e := range p.SchemaValidationErrors {
				t.Errorf("  %s %s", e.FieldPath, e.Reason)
			}
		}
	}
}

var (
	lowerCamel = regexp.MustCompile(`^[a-z]+([A-Z][a-z]*)+$`)
	areas      = []string{
		"Calls", "Inbound", "Agents", "Sip", "Porting", "AgentTesting", "Pathways", "Personas", "Triage", "Speech", "Webhooks",
	}
)

func TestOperationsFollowTheConventions(t *testing.T) {
	t.Parallel()
	_, doc := document(t)
	seen := map[string]bool{}
	operations(doc, func(method, path string, op *v3.Operation) {
		at := method + " " + path
		if !lowerCamel.MatchString(op.OperationId) || seen[op.OperationId] {
			t.Errorf("%s: operationId %q is not a lowerCamel verb and noun of its own", at, op.OperationId)
		}
		seen[op.OperationId] = true
		group := extension(op, "x-ogen-operation-group")
		if !slices.Contains(areas, group) || len(op.Tags) != 1 || op.Tags[0] != group {
			t.Errorf("%s: tags %v and group %q are not one area", at, op.Tags, group)
		}
		if e := extension(op, "x-callwright-envelope"); e != "A" && e != "B" && e != "C" {
			t.Errorf("%s: envelope %q", at, e)
		}
		if op.Summary == "" || op.Description == "" {
			t.Errorf("%s: no summary or description", at)
		}
		checkSecurity(t, at, path, op)
		checkResponses(t, at, path, op)
	})
}

// linked is the operation that signed links use without a key.
const linked = "getSpeechSample"

// checkSecurity checks that every operation requires a key, except the signing pages and the signed link. Operations under /v1/sip must
// also require the entitlement SIP.
func checkSecurity(t *testing.T, at, path string, op *v3.Operation) {
	t.Helper()
	if strings.HasPrefix(path, "/loa/") {
		if len(op.Security) != 0 {
			t.Errorf("%s: a page for the public asks for a key", at)
		}
		return
	}
	if requirements := len(op.Security); requirements != 1 && !(requirements == 2 && op.OperationId == linked && op.Security[1].ContainsEmptyRequirement) {
		t.Errorf("%s: %d security requirements, want one", at, requirements)
		return
	}
	roles, ok := op.Security[0].Requirements.Get("ApiKey")
	var want []string
	if strings.HasPrefix(path, "/v1/sip") {
		want = []string{"SIP"}
	}
	if !ok || !slices.Equal(roles, want) {
		t.Errorf("%s: roles %v, want %v", at, roles, want)
	}
}

// checkResponses checks that an operation has a success, the errors that its path and body imply, and the shared error as default.
func checkResponses(t *testing.T, at, path string, op *v3.Operation) {
	t.Helper()
	if op.Responses.Default == nil || op.Responses.Default.GoLow().GetReference() != "#/components/responses/Error" {
		t.Errorf("%s: default is not the shared error", at)
	}
	named := map[string]bool{}
	for code, response := range op.Responses.Codes.FromOldest() {
		named[code[:1]], named[code] = true, true
		if code[0] >= '4' {
			checkError(t, at+" "+code, op, response)
		}
	}
	if !named["2"] {
		t.Errorf("%s: no success", at)
	}
	for code, want := range map[string]bool{
		"400": !strings.HasPrefix(path, "/loa/") || op.RequestBody != nil, "401": !strings.HasPrefix(path, "/loa/"),
		"413": op.RequestBody != nil, "415": op.RequestBody != nil,
	} {
		if named[code] != want {
			t.Errorf("%s: names %s: %v, want %v", at, code, named[code], want)
		}
	}
	if strings.HasPrefix(path, "/v1/sip") && !named["403"] {
		t.Errorf("%s: does not name 403, which organizations without the entitlement get", at)
	}
	if !named["501"] && !named["503"] {
		t.Errorf("%s: names neither 501 nor 503; it is one that is not built or one that needs a database", at)
	}
}

var lowerCode, upperCode = regexp.MustCompile(`^[a-z_]+$`), regexp.MustCompile(`^[A-Z_]+$`)

// checkError checks that the response of an error is a shared one, and that its examples have the envelope and the letter case of the
// operation. Errors about keys, entitlements and rates are the same everywhere.
func checkError(t *testing.T, at string, op *v3.Operation, response *v3.Response) {
	t.Helper()
	if response.GoLow().GetReference() == "" {
		t.Errorf("%s: the response has no name", at)
	}
	media, ok := response.Content.Get("application/json")
	if !ok {
		return
	}
	if media.Examples.Len() == 0 {
		t.Errorf("%s: no example", at)
	}
	for name, example := range media.Examples.FromOldest() {
		var body struct {
			Data   any
			Status string
			Errors []struct{ Error string }
		}
		if err := example.Value.Decode(&body); err != nil {
			t.Errorf("%s %s: %v", at, name, err)
			continue
		}
		code := body.Errors[0].Error
		everywhere := code == "AUTH_FAILURE" || code == "TOO_MANY_REQUESTS"
		if isB := body.Status == "error"; isB != (extension(op, "x-callwright-envelope") == "B" && !everywhere) {
			t.Errorf("%s: the example %s has the form of another envelope", at, name)
		}
		want := upperCode
		if op.Tags[0] == "Triage" && !everywhere {
			want = lowerCode
		}
		if !want.MatchString(code) {
			t.Errorf("%s: the example %s has the code %q, which does not match %s", at, name, code, want)
		}
	}
}

// TestErrorExamplesAreValid checks that the examples of shared responses conform to their schemas.
func TestErrorExamplesAreValid(t *testing.T) {
	t.Parallel()
	_, doc := document(t)
	for name, response := range doc.Components.Responses.FromOldest() {
		if media, ok := response.Content.Get("application/json"); ok {
			checkMedia(t, name, media)
		}
	}
}

// TestSchemasAreNamedAfterThings checks that no schema's name begins with an operation's name. Generators derive such names from
// operations, for example CreateCallRequest. It also checks the names of the schemas of successful answers.
func TestSchemasAreNamedAfterThings(t *testing.T) {
	t.Parallel()
	_, doc := document(t)
	operations(doc, func(_, _ string, op *v3.Operation) {
		prefix := strings.ToUpper(op.OperationId[:1]) + op.OperationId[1:]
		for name := range doc.Components.Schemas.FromOldest() {
			if strings.HasPrefix(name, prefix) {
				t.Errorf("the schema %s is named after the operation %s; it must be named after what it is", name, op.OperationId)
			}
		}
		for code, response := range op.Responses.Codes.FromOldest() {
			if code[0] == '2' {
				checkReplyName(t, response)
			}
		}
	})
}

// checkReplyName checks that the schema of a JSON answer has the suffix Reply if it is an envelope.
func checkReplyName(t *testing.T, response *v3.Response) {
	t.Helper()
	if response.Content == nil { // status 204
		return
	}
	media, ok := response.Content.Get("application/json")
	if !ok {
		return
	}
	ref := media.Schema.GetReference()
	name := ref[strings.LastIndex(ref, "/")+1:]
	properties := media.Schema.Schema().Properties
	if properties == nil { // a list without an envelope
		return
	}
	wraps := func(members ...string) bool {
		return !slices.ContainsFunc(members, func(member string) bool {
			_, ok := properties.Get(member)
			return !ok
		})
	}
	if (wraps("data", "errors") || wraps("status", "message")) && !strings.HasSuffix(name, "Reply") {
		t.Errorf("the answer %s is an envelope; its name must end in Reply", name)
	}
}

func TestJSONBodiesAreNamedAndShown(t *testing.T) {
	t.Parallel()
	_, doc := document(t)
	operations(doc, func(method, path string, op *v3.Operation) {
		at := method + " " + path
		if op.RequestBody != nil {
			if media, ok := op.RequestBody.Content.Get("application/json"); ok {
				checkMedia(t, at+" request", media)
			}
		}
		for code, response := range op.Responses.Codes.FromOldest() {
			if response.Content == nil || code[0] != '2' { // 204, or an error, which TestErrorExamplesAreValid checks
				continue
			}
			if media, ok := response.Content.Get("application/json"); ok {
				checkMedia(t, at+" "+code, media)
			}
		}
	})
}

// checkMedia checks that the schema of a media type is named. It also checks that the media type has at least one example, and that all its
// examples are valid.
func checkMedia(t *testing.T, at string, media *v3.MediaType) {
	t.Helper()
	if !media.Schema.IsReference() {
		t.Errorf("%s: the schema has no name", at)
	}
	schema := media.Schema.Schema()
	shown := 0
	check := func(example interface{ Decode(any) error }) {
		shown++
		var value any
		if err := example.Decode(&value); err != nil {
			t.Errorf("%s: %v", at, err)
			return
		}
		checkExample(t, at, schema, value)
	}
	if media.Example != nil {
		check(media.Example)
	}
	for _, example := range media.Examples.FromOldest() {
		check(example.Value)
	}
	if shown == 0 {
		t.Errorf("%s: no example", at)
	}
}

func checkExample(t *testing.T, at string, schema *base.Schema, value any) {
	t.Helper()
	ok, problems := schema_validation.NewSchemaValidator().ValidateSchemaObject(schema, value)
	if ok {
		return
	}
	for _, p := range problems {
		t.Errorf("%s: the example is not valid: %s", at, p.Reason)
		for _, e := range p.SchemaValidationErrors {
			t.Errorf("  %s: %s", e.FieldPath, e.Reason)
		}
	}
}

func TestRequestBodiesAreClosed(t *testing.T) {
	t.Parallel()
	_, doc := document(t)
	operations(doc, func(_, _ string, op *v3.Operation) {
		if op.RequestBody == nil {
			return
		}
		for contentType, media := range op.RequestBody.Content.FromOldest() {
			if contentType == "multipart/form-data" {
				continue // the generator ignores unknown parts
			}
			if a := media.Schema.Schema().AdditionalProperties; a == nil || !a.IsB() || a.B {
				t.Errorf("%s: the request body is not closed", op.OperationId)
			}
		}
	})
}

func TestTextsAndListsAreBounded(t *testing.T) {
	t.Parallel()
	_, doc := document(t)
	for name, proxy := range doc.Components.Schemas.FromOldest() {
		checkBounds(t, name, proxy)
	}
	operations(doc, func(_, _ string, op *v3.Operation) {
		for _, p := range op.Parameters {
			checkBounds(t, op.OperationId+" "+p.Name, p.Schema)
		}
	})
}

// checkBounds checks that a list has a maximum number of items, and that a text has a maximum length unless it has enumerated values, a
// constant or a format. It also checks the schemas of an object's members and of a list's items, except references.
func checkBounds(t *testing.T, at string, proxy *base.SchemaProxy) {
	t.Helper()
	s := proxy.Schema()
	free := slices.Contains(s.Type, "string") && len(s.Enum) == 0 && s.Const == nil && s.Format == ""
	if free && s.MaxLength == nil {
		t.Errorf("%s: a text without maxLength", at)
	}
	if slices.Contains(s.Type, "array") && s.MaxItems == nil {
		t.Errorf("%s: a list without maxItems", at)
	}
	for name, property := range s.Properties.FromOldest() {
		if !property.IsReference() {
			checkBounds(t, at+"."+name, property)
		}
	}
	if s.Items != nil && s.Items.IsA() && !s.Items.A.IsReference() {
		checkBounds(t, at+"[]", s.Items.A)
	}
}
