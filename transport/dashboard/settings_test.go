package dashboard_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// schema is the part of a schema of the contract that TestEverySettingHasAField reads.
type schema struct {
	Ref        string            `yaml:"$ref"`
	Properties map[string]schema `yaml:"properties"`
	OneOf      []schema          `yaml:"oneOf"`
	NoEffect   *yaml.Node        `yaml:"x-no-effect"`
	AliasOf    string            `yaml:"x-alias-of"`
}

// secret is the reason why the forms show no member that may contain keys of other systems.
const secret = "may contain keys and passwords of other systems, which pages never show; a developer who runs that system sets it by the API"

// program is the reason why a member that only programs read has no field.
const program = "is read by the program that placed the call, which sets it by the API"

// withoutField lists the members without a form field, by the path in the object, each with the reason.
var withoutField = map[string]map[string]string{
	"CallCreate": {
		"persona":               "is in the form of a persona or a number; a call with a task says it there",
		"start_node_id":         "starts a call in the middle of a pathway, for tests; a chat with the pathway has the field",
		"model":                 "is in the form of a web agent, which the call can use",
		"fallback_model":        "is in the form of a web agent, which the call can use",
		"temperature":           "is in the form of a web agent, which the call can use",
		"transfer_phone_number": "is in the form of a number; a call that a person places is watched by that person",
		"transfer_list":         "is another form of transfer_phone_number",
		"voicemail":             "is the field machines.voicemail; it differs only in that it comes first",
		"block_interruptions":   "is interruptibility 0, which the form offers as Never",
		"start_time":            "a person places a call now; a program schedules",
		"retry":                 "a person sees that nobody answered, and calls again with a button",
		"dispositions":          program,
		"summary_prompt":        program,
		"metadata":              program,
		"webhook":               secret,
		"webhook_events":        program,
		"tools":                 secret,
		"dynamic_data":          secret,
	},
	"WebAgentCreate": {"tools": secret, "dynamic_data": secret, "webhook": secret, "metadata": program},
	"InboundNumberUpdate": {
		"tools": secret, "dynamic_data": secret, "webhook": secret,
		"fallback_number": "is refused by the API: forwarding a call needs a second call by the trunk, which this server does not place",
	},
	"PersonaCreate": {
		"default_tools":      secret,
		"kb_ids":             "is refused by this server, to which no knowledge bases are connected",
		"pathway_conditions": "names several pathways, each with a condition: a form of its own, see docs/dashboard.md",
	},
	"PathwayModelOptions": {"block_interruptions": "is interruptibility 0, which the form offers as Never"},
}

// fieldOf maps members to the names of their fields, where they differ.
var fieldOf = map[string]string{
	"voice_id": "voice", "background": "background_track", "interruptionThreshold": "interruption_threshold",
}

// leaf lists the objects that have one field, or fields that the schema does not list.
var leaf = map[string][]string{
	"voice_settings": {"voice_settings.speed", "voice_settings.pitch"}, "pronunciation_guide": {"pronunciation_guide"}, "request_data": {"request_data"},
}

// members returns the names of the fields that a schema requires, below a path. It descends into objects.
func members(t *testing.T, all map[string]schema, of schema, path string) (names []string) {
	t.Helper()
	for _, one := range of.OneOf {
		if one.Ref != "" {
			of = one
		}
	}
	if of.Ref != "" {
		of = all[of.Ref[strings.LastIndexByte(of.Ref, '/')+1:]]
	}
	for name, member := range of.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		if member.NoEffect != nil || member.AliasOf != "" {
			continue
		}
		if fields, ok := leaf[at]; ok {
			names = append(names, fields...)
			continue
		}
		if name == "call_config" {
			names = append(names, members(t, all, member, path)...)
			continue
		}
		below := members(t, all, member, at)
		if name == "idle" || name == "machines" {
			names = append(names, below...)
			continue
		}
		names = append(names, at)
	}
	return names
}

var fieldName = regexp.MustCompile(`<(?:input|select|textarea)[^>]* name="([^"]+)"`)

// TestEverySettingHasAField compares the members of calls, web agents, inbound numbers, personas and nodes in the contract with the fields
// of their forms. A member without a field must have a reason in withoutField.
func TestEverySettingHasAField(t *testing.T) {
	t.Parallel()
	var contract struct {
		Components struct {
			Schemas map[string]schema `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal([]byte(callwright.OpenAPI), &contract); err != nil {
		t.Fatal(err)
	}
	h := open(t)
	theirs := h.furnish(owner, "+14155550100")
	theOwner, _ := h.serve(func(*page.Route) {})
	for name, path := range map[string]string{
		"CallCreate": "/calls/new", "WebAgentCreate": "/agents/new", "PersonaCreate": "/agents/personas/new",
		"InboundNumberUpdate": "/agents/numbers/+14155550100",
		"PathwayModelOptions": "/pathways/" + theirs["/pathways/{id}"] + "/versions/0?node=a",
	} {
		a := theOwner.send(path, nil)
		if a.Status != http.StatusOK {
			t.Fatalf("%s is answered %d", path, a.Status)
		}
		fields := map[string]bool{}
		for _, m := range fieldName.FindAllStringSubmatch(a.Body, -1) {
			fields[m[1]] = true
		}
		excepted := maps.Clone(withoutField[name])
		wanted := members(t, contract.Components.Schemas, contract.Components.Schemas[name], "")
		if len(wanted) < 5 {
			t.Errorf("%s: only the members %q were found", name, wanted)
		}
		slices.Sort(wanted)
		for _, member := range wanted {
			field := member
			if other := fieldOf[member]; other != "" {
				field = other
			}
			_, reason := excepted[member]
			switch delete(excepted, member); {
			case fields[field] && reason:
				t.Errorf("%s: %s has a field at %s, so that it needs no reason", name, member, path)
			case !fields[field] && !reason:
				t.Errorf("%s: %s has no field at %s", name, member, path)
			}
		}
		for member := range excepted {
			t.Errorf("%s has no member %s", name, member)
		}
	}
}
