// Package conversation contains the form fields of the conversation settings that calls, web agents, personas and inbound numbers have in
// common. Each field has the name of its setting in the API.
package conversation

import (
	"embed"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

//go:embed templates/_conversation.html
var files embed.FS

// In returns an area with two additional templates: "conversation", which expects a Section, and "setting", which expects a Shown.
func In(a page.Area) page.Area {
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	return a.With(templates, nil)
}

// Field is the form field of one setting.
type Field struct {
	Name    string   // name in the API, with the path of its object, such as "idle.after"
	Label   string   // the setting in plain words
	Hint    string   // effect of the setting; may be empty
	Default string   // placeholder of an empty field; may be empty
	Number  bool     // whether the value is a number
	Long    bool     // whether the value has several lines
	Options []Option // selectable values; if nil, any text can be typed
}

// Option is a selectable value of a Field.
type Option struct{ Value, Text string }

// Shown is a Field with its value, as typed, and the faults of its form.
type Shown struct {
	Field

	Value  string
	Faults page.Faults
}

// Section is the part of a form with the fields of all conversation settings of an object.
type Section struct {
	Groups []Group
	Open   bool // whether the section is unfolded, because a field has a value or a fault
}

// Group is a titled list of fields.
type Group struct {
	Title  string
	Hint   string
	Fields []Shown
}

// Object is a type of object in the API that has conversation settings.
type Object struct {
	inherits bool             // whether an empty field leaves the setting to another object; otherwise it clears the setting
	lacks    []agents.Setting // settings that the object does not have
}

// The objects that have conversation settings.
var (
	Call     = Object{inherits: true}
	WebAgent = Object{}
	Persona  = Object{lacks: []agents.Setting{agents.SettingKeywords}}
	Number   = Object{lacks: []agents.Setting{agents.SettingKeywords, agents.SettingMachines}}
)

// Fields returns the names of the object's fields.
func (o Object) Fields() (names []string) {
	for _, s := range o.settings() {
		names = append(names, s.Name)
	}
	return names
}

// settings returns the settings that the object has.
func (o Object) settings() (all []setting) {
	for _, g := range groups {
		for _, s := range g.settings {
			if !slices.Contains(o.lacks, s.part) {
				all = append(all, s)
			}
		}
	}
	return all
}

// Section returns the section with values, which are as typed, and faults.
func (o Object) Section(values map[string]string, faults page.Faults) (section Section) {
	for _, g := range groups {
		shown := Group{Title: g.title, Hint: g.hint}
		for _, s := range g.settings {
			if slices.Contains(o.lacks, s.part) {
				continue
			}
			if s.Options != nil {
				s.Options = slices.Concat(o.unset(), s.Options)
			}
			_, faulty := faults[s.Name]
			section.Open = section.Open || faulty || values[s.Name] != ""
			shown.Fields = append(shown.Fields, Shown{s.Field, values[s.Name], faults})
		}
		if len(shown.Fields) > 0 {
			section.Groups = append(section.Groups, shown)
		}
	}
	return section
}

// unset returns the option for no value.
func (o Object) unset() []Option {
	if o.inherits {
		return []Option{{"", "Use the agent's setting"}}
	}
	return []Option{{"", "Default"}}
}

// Read copies the values of the object's fields from a form to values.
func (o Object) Read(r *page.Request, values map[string]string) {
	for _, s := range o.settings() {
		values[s.Name] = strings.ReplaceAll(r.Field(s.Name), "\r\n", "\n")
	}
}

// Fill sets the values of the object's fields to the settings of an agent.
func (o Object) Fill(values map[string]string, a agents.Agent) {
	for _, s := range o.settings() {
		values[s.Name] = s.write(a)
	}
}

// Patch returns the change of an agent's settings to the values of a form. Settings whose values equal those of the agent are not changed.
// The patch of a Call contains only settings with a value. An invalid value causes CodeBadRequest with the name of the field.
func (o Object) Patch(values map[string]string, agent agents.Agent) (agents.Patch, error) {
	changed, parts := agent, map[agents.Setting]bool{}
	for _, s := range o.settings() {
		value := values[s.Name]
		if value == s.write(agent) {
			continue
		}
		if err := s.read(&changed, value); err != nil {
			return agents.Patch{}, err
		}
		parts[s.part] = true
	}
	return patchOf(changed, parts), nil
}

// patchOf returns a patch with the given settings of an agent. Settings with their zero value are cleared.
func patchOf(a agents.Agent, parts map[agents.Setting]bool) agents.Patch {
	return agents.Patch{
		Interruption: optional(parts[agents.SettingInterruption], a.Interruption), Idle: optional(parts[agents.SettingIdle], a.Idle),
		Interruptibility: optional(parts[agents.SettingInterruptibility], a.Interruptibility),
		LeastWait:        optional(parts[agents.SettingLeastWait], &a.LeastWait),
		LongestWait:      optional(parts[agents.SettingLongestWait], &a.LongestWait),
		VoiceSettings:    optional(parts[agents.SettingVoiceSettings], &a.VoiceSettings),
		Pronunciation:    optional(parts[agents.SettingPronunciation], &a.Pronunciation),
		Background:       optional(parts[agents.SettingBackground], &a.Background),
		Machines:         optional(parts[agents.SettingMachines], &a.Machines),
		Keywords:         optional(parts[agents.SettingKeywords], &a.Keywords),
	}
}

// optional returns a value that is Set if changed is true. A nil value is cleared.
func optional[T any](changed bool, value *T) callwright.Optional[T] {
	if !changed {
		return callwright.Optional[T]{}
	}
	return callwright.Optional[T]{Set: true, Value: value}
}

// OfPersona returns a change of the settings of a persona's calls that equals a patch.
func OfPersona(p agents.Patch) persona.CallChange {
	c := persona.CallChange{
		Interruption: p.Interruption, Interruptibility: p.Interruptibility, LeastWait: p.LeastWait, LongestWait: p.LongestWait, Idle: p.Idle,
		VoiceSettings: p.VoiceSettings, Pronunciation: p.Pronunciation, Machines: p.Machines,
	}
	if p.Background.Set {
		c.Background = callwright.Given(string(p.Background.OrZero()))
	}
	return c
}

// AgentOf returns an agent with the settings of a persona's calls.
func AgentOf(c persona.CallConfig) agents.Agent {
	return agents.Agent{
		Voice: c.Voice, Record: c.Record, Language: c.Language, Background: agents.Background(c.Background), MaxDuration: c.MaxDuration,
		WaitForGreeting: c.WaitForGreeting, Interruption: c.Interruption, Interruptibility: c.Interruptibility, LeastWait: c.LeastWait,
		LongestWait: c.LongestWait, Idle: c.Idle, VoiceSettings: c.VoiceSettings, Pronunciation: c.Pronunciation, Machines: c.Machines,
	}
}

// renamed maps names of the API to the names of their fields, where they differ.
var renamed = map[string]string{"background": "background_track"}

// Faults converts an error of a domain to the faults of a form that has the given fields. A fault within a list, such as
// pronunciation_guide[2].word, becomes a fault of the list's field. Faults reports false if the user can neither correct the form nor send
// it again later.
func Faults(err error, fields ...string) (page.Faults, bool) {
	var all callwright.FieldErrors
	if one, ok := errors.AsType[*callwright.Error](err); ok {
		all = callwright.FieldErrors{one}
	}
	if several, ok := errors.AsType[callwright.FieldErrors](err); ok {
		all = several
	}
	faults := page.Faults{}
	for _, e := range all {
		named := *e
		field := strings.TrimPrefix(e.Field, "call_config.")
		if list, _, inside := strings.Cut(field, "["); inside {
			named.Message, field = e.Field+" "+e.Message, list
		}
		named.Field = field
		found, ok := page.FaultsOf(&named, renamed, fields...)
		if !ok {
			return nil, false
		}
		maps.Copy(faults, found)
	}
	return faults, len(faults) > 0
}
