package agentform

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/speech/ambience"
)

// setting is a Field with its conversions.
type setting struct {
	Field

	part  agents.Setting                             // setting that contains the field's value
	read  func(to *agents.Agent, value string) error // converts a value; empty means the default
	write func(a agents.Agent) string                // formats the value of an agent; empty means the default
}

// group is a titled list of settings.
type group struct {
	title    string
	hint     string
	settings []setting
}

// groups contains all conversation settings.
var groups = []group{
	{"When the other side speaks over the agent", "", interruptions},
	{"When the other side pauses", "", pauses},
	{"Silence", "The first of call, agent and persona that has one of these settings counts for all of them.", silence},
	{"Voice and sound", "", sound},
	{"Recognition", "", recognition},
	{"When a machine answers a placed call", "A message may contain variables, such as {{name}}.", machines},
}

var interruptions = []setting{
	{
		Field{Name: "interruptibility", Label: "Who talks over the agent interrupts it", Hint: "“Never” blocks interruptions: pressed keys alone interrupt.", Options: []Option{
			{"0", "Never"}, {"1", "By several words"}, {"2", "By words, not by an “uh-huh”"}, {"3", "The same, sooner"}, {"4", "By any sound of a voice"},
		}},
		agents.SettingInterruptibility,
		func(to *agents.Agent, value string) (err error) {
			to.Interruptibility, err = whole("interruptibility", value)
			return err
		},
		func(a agents.Agent) string { return wholeText(a.Interruptibility) },
	},
	{
		Field{
			Name: "interruption_threshold", Label: "Voice that pauses the agent, in milliseconds", Default: "200", Number: true,
			Hint: "Higher, if it stops at every sound. Empty: as the line above says.",
		},
		agents.SettingInterruption,
		func(to *agents.Agent, value string) error {
			n, err := whole("interruption_threshold", value)
			if to.Interruption = nil; n != nil {
				to.Interruption = new(time.Duration(*n) * time.Millisecond)
			}
			return err
		},
		func(a agents.Agent) string {
			if a.Interruption == nil {
				return ""
			}
			return strconv.FormatInt(a.Interruption.Milliseconds(), 10)
		},
	},
}

var pauses = []setting{
	wait(Field{
		Name: "min_endpointing_delay", Label: "Shortest pause that ends the other side's turn, in milliseconds", Default: "300", Number: true,
		Hint: "Longer: the agent answers later, and lets slow speakers finish.",
	}, agents.SettingLeastWait, func(a *agents.Agent) *time.Duration { return &a.LeastWait }),
	wait(Field{
		Name: "max_endpointing_delay", Label: "Longest pause, in milliseconds", Default: "3000", Number: true, Hint: "Within the two, the words decide.",
	}, agents.SettingLongestWait, func(a *agents.Agent) *time.Duration { return &a.LongestWait }),
}

var silence = []setting{
	idleTime(Field{
		Name: "idle.after", Label: "Seconds of silence until the agent asks", Default: "10", Number: true, Hint: "0: never.",
	}, func(i *dialogue.Idle) **time.Duration { return &i.After }),
	{
		Field{Name: "idle.times", Label: "How often in a row it asks", Default: "2", Number: true, Hint: "The next silence ends the call."},
		agents.SettingIdle,
		func(to *agents.Agent, value string) error {
			n, err := whole("idle.times", value)
			setIdle(to, func(i *dialogue.Idle) { i.Times = n })
			return err
		},
		func(a agents.Agent) string { return wholeText(idleOf(a).Times) },
	},
	idleText(Field{Name: "idle.prompt", Label: "Its question", Default: "Are you still there?"}, func(i *dialogue.Idle) *string { return &i.Prompt }),
	idleText(Field{Name: "idle.goodbye", Label: "Its last words", Hint: "Also for a caller who was not understood three times."},
		func(i *dialogue.Idle) *string { return &i.Goodbye }),
	idleTime(Field{
		Name: "idle.filler_after", Label: "Seconds of the agent's own silence until it bridges them", Default: "4", Number: true,
		Hint: "While the model or a request takes long. 0: never.",
	}, func(i *dialogue.Idle) **time.Duration { return &i.FillerAfter }),
	idleText(Field{Name: "idle.filler", Label: "Words that bridge its silence", Default: "One moment, please."},
		func(i *dialogue.Idle) *string { return &i.Filler }),
}

var sound = []setting{
	voiceFactor(Field{
		Name: "voice_settings.speed", Label: "Speed of the voice", Default: "1", Number: true, Hint: "A factor from 0.5 to 2; below 1: slower.",
	}, "speed"),
	voiceFactor(Field{
		Name: "voice_settings.pitch", Label: "Pitch of the voice", Default: "1", Number: true, Hint: "A factor from 0.5 to 2; below 1: lower.",
	}, "pitch"),
	{
		Field{
			Name: "pronunciation_guide", Label: "Pronunciation", Default: "Nguyen = win", Long: true,
			Hint: "A line for each word: the word, =, and how it is spoken. At its end, | case matches capitals as written, and | inside replaces parts of words, too.",
		},
		agents.SettingPronunciation, readGuide, func(a agents.Agent) string { return guideText(a.Pronunciation) },
	},
	{
		Field{Name: "background_track", Label: "Background sound", Options: backgrounds()},
		agents.SettingBackground,
		func(to *agents.Agent, value string) error {
			if value == noBackground {
				value = ""
			}
			to.Background = agents.Background(value)
			return nil
		},
		func(a agents.Agent) string { return string(a.Background) },
	},
}

var recognition = []setting{{
	Field{Name: "keywords", Label: "Names and terms that are likely in the call", Hint: "Separated by commas. Some recognizers cannot use them; the call says so."},
	agents.SettingKeywords,
	func(to *agents.Agent, value string) error {
		if to.Keywords = nil; value == "" {
			return nil
		}
		for keyword := range strings.SplitSeq(value, ",") {
			to.Keywords = append(to.Keywords, strings.TrimSpace(keyword))
		}
		return nil
	},
	func(a agents.Agent) string { return strings.Join(a.Keywords, ", ") },
}}

var machines = []setting{
	machine("voicemail", "An answering machine", "Without a choice, the agent talks on.", agents.MachineIgnore, agents.MachineHangup, agents.MachineMessage),
	machineText("voicemail_message", "Message after the tone", func(m *agents.Machines) *string { return &m.VoicemailMessage }),
	machine("ivr", "A menu", "Without a choice, the agent answers it, and can press keys.", agents.MachineIgnore, agents.MachineHangup),
	machine("screening", "Call screening, which asks who calls and why", "Without a choice, the agent answers.",
		agents.MachineIgnore, agents.MachineHangup, agents.MachineIntroduce),
	machineText("screening_message", "Name and reason for call screening", func(m *agents.Machines) *string { return &m.ScreeningMessage }),
	machine("announcement", "An announcement of the network", "Without a choice, the agent hangs up.", agents.MachineIgnore, agents.MachineHangup),
	machine("fax", "A fax machine", "Without a choice, the agent hangs up.", agents.MachineIgnore, agents.MachineHangup),
}

// noBackground is the value for no background sound, in place of the agent's.
const noBackground = "none"

func backgrounds() []Option {
	all := []Option{{noBackground, "None"}}
	for _, track := range ambience.Tracks() {
		all = append(all, Option{string(track), string(track)})
	}
	return all
}

// wait returns the setting of a silence that ends the other side's turn.
func wait(f Field, part agents.Setting, of func(*agents.Agent) *time.Duration) setting {
	return setting{
		f, part,
		func(to *agents.Agent, value string) error {
			if value == "" {
				*of(to) = 0
				return nil
			}
			n, ok := number(value)
			if !ok || n < 1 {
				return callwright.Invalid(f.Name, endpoint.BoundRange)
			}
			*of(to) = time.Duration(n * float64(time.Millisecond))
			return nil
		},
		func(a agents.Agent) string {
			if *of(&a) == 0 {
				return ""
			}
			return strconv.FormatFloat(float64(of(&a).Microseconds())/1000, 'f', -1, 64)
		},
	}
}

// idleTime returns the setting of a duration in Agent.Idle, in seconds.
func idleTime(f Field, of func(*dialogue.Idle) **time.Duration) setting {
	return setting{
		f, agents.SettingIdle,
		func(to *agents.Agent, value string) error {
			if value == "" {
				setIdle(to, func(i *dialogue.Idle) { *of(i) = nil })
				return nil
			}
			n, ok := number(value)
			if !ok {
				return callwright.Invalid(f.Name, "must be a number of seconds, such as %s", f.Default)
			}
			setIdle(to, func(i *dialogue.Idle) { *of(i) = new(time.Duration(math.Round(n * float64(time.Second)))) })
			return nil
		},
		func(a agents.Agent) string {
			i := idleOf(a)
			if d := *of(&i); d != nil {
				return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
			}
			return ""
		},
	}
}

// idleText returns the setting of a text in Agent.Idle.
func idleText(f Field, of func(*dialogue.Idle) *string) setting {
	return setting{
		f, agents.SettingIdle,
		func(to *agents.Agent, value string) error {
			setIdle(to, func(i *dialogue.Idle) { *of(i) = value })
			return nil
		},
		func(a agents.Agent) string {
			i := idleOf(a)
			return *of(&i)
		},
	}
}

// idleOf returns the agent's behavior in silence, or the zero Idle.
func idleOf(a agents.Agent) dialogue.Idle {
	if a.Idle == nil {
		return dialogue.Idle{}
	}
	return *a.Idle
}

// setIdle changes a copy of the agent's Idle, which becomes nil if all of its fields have their defaults.
func setIdle(to *agents.Agent, change func(*dialogue.Idle)) {
	i := idleOf(*to)
	change(&i)
	if to.Idle = &i; i == (dialogue.Idle{}) {
		to.Idle = nil
	}
}

// voiceFactor returns the setting of a factor in Agent.VoiceSettings. Other members of the voice settings stay unchanged.
func voiceFactor(f Field, name string) setting {
	return setting{
		f, agents.SettingVoiceSettings,
		func(to *agents.Agent, value string) error {
			members := voiceSettings(*to)
			if delete(members, name); value != "" {
				n, ok := number(value)
				if !ok {
					return callwright.Invalid(f.Name, "must be a factor, such as 1.1")
				}
				members[name], _ = json.Marshal(n) // a finite number
			}
			if to.VoiceSettings = ""; len(members) > 0 {
				text, _ := json.Marshal(members) // members of valid JSON
				to.VoiceSettings = string(text)
			}
			return nil
		},
		func(a agents.Agent) string {
			if raw := string(voiceSettings(a)[name]); raw != "null" {
				return raw
			}
			return ""
		},
	}
}

// voiceSettings returns the members of an agent's voice settings, which are valid JSON.
func voiceSettings(a agents.Agent) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	_ = json.Unmarshal([]byte(a.VoiceSettings), &members)
	return members
}

// reactions maps the reactions to machines to plain words.
var reactions = map[agents.MachineAction]string{
	agents.MachineIgnore: "Go on as with a person", agents.MachineHangup: "Hang up", agents.MachineMessage: "Leave the message below",
	agents.MachineIntroduce: "Say the words below, and wait for a person",
}

// machine returns the setting of the reaction to one kind of machine.
func machine(name, label, hint string, allowed ...agents.MachineAction) setting {
	f := Field{Name: "machines." + name, Label: label, Hint: hint}
	for _, a := range allowed {
		f.Options = append(f.Options, Option{string(a), reactions[a]})
	}
	of := map[string]func(*agents.Machines) *agents.MachineAction{
		"voicemail":    func(m *agents.Machines) *agents.MachineAction { return &m.Voicemail },
		"ivr":          func(m *agents.Machines) *agents.MachineAction { return &m.IVR },
		"screening":    func(m *agents.Machines) *agents.MachineAction { return &m.Screening },
		"announcement": func(m *agents.Machines) *agents.MachineAction { return &m.Announcement },
		"fax":          func(m *agents.Machines) *agents.MachineAction { return &m.Fax },
	}[name]
	return setting{
		f, agents.SettingMachines,
		func(to *agents.Agent, value string) error {
			*of(&to.Machines) = agents.MachineAction(value)
			return nil
		},
		func(a agents.Agent) string { return string(*of(&a.Machines)) },
	}
}

// machineText returns the setting of a text for machines.
func machineText(name, label string, of func(*agents.Machines) *string) setting {
	return setting{
		Field{Name: "machines." + name, Label: label, Long: true}, agents.SettingMachines,
		func(to *agents.Agent, value string) error {
			*of(&to.Machines) = value
			return nil
		},
		func(a agents.Agent) string { return *of(&a.Machines) },
	}
}

// number parses a number with a decimal point or comma. It reports false for any other text, and for numbers beyond a billion.
func number(value string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.Replace(value, ",", ".", 1), 64)
	return n, err == nil && math.Abs(n) <= 1e9
}

// whole parses a whole number, or returns nil for an empty text.
func whole(name, value string) (*int, error) {
	if value == "" {
		return nil, nil //nolint:nilnil // no number
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return nil, callwright.Invalid(name, "must be a whole number")
	}
	return new(int(n)), nil
}

func wholeText(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}
