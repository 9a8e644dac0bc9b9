package dialogue

import (
	"cmp"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// Idle configures what an agent does while the caller is silent, and while the caller waits for the agent. The zero value means the defaults.
type Idle struct {
	After   *time.Duration // silence of the caller after which the agent asks, at most MaxIdle; 0 means never; nil means 10 s
	Times   *int           // number of consecutive silences in which the agent asks before it ends the call, at most MaxAsks; nil means 2
	Prompt  string         // asks a silent caller; empty means Lines.StillThere
	Goodbye string         // said before the call ends, also after words that were not understood; empty means Lines.Goodbye

	FillerAfter *time.Duration // silence of the agent, while it owes an answer, that the filler ends, at most MaxFiller; 0 means never; nil means 4 s
	Filler      string         // empty means the filler of the language: see Filler
}

// The limits of Idle.
const (
	MaxIdle     = 10 * time.Minute
	MaxAsks     = 10
	MaxFiller   = 15 * time.Second
	MaxIdleText = 500 // characters of each text
)

// never is the silence of a caller that no call reaches.
const never = 24 * time.Hour

// defaultFiller is the default of Idle.FillerAfter.
const defaultFiller = 4 * time.Second

// Check returns CodeBadRequest for the first invalid field, whose name is in the form of the API and begins with the given prefix.
func (i *Idle) Check(prefix string) error {
	if i == nil {
		return nil
	}
	for _, text := range []struct{ name, value string }{{"prompt", i.Prompt}, {"goodbye", i.Goodbye}, {"filler", i.Filler}} {
		if text.value != "" && callwright.Blank(text.value) {
			return callwright.Invalid(prefix+text.name, "must not be blank")
		}
		if callwright.Longer(text.value, MaxIdleText) {
			return callwright.Invalid(prefix+text.name, "must have at most %d characters", MaxIdleText)
		}
	}
	if i.After != nil && (*i.After < 0 || *i.After > MaxIdle) {
		return callwright.Invalid(prefix+"after", "must be from 0 to %d seconds", int(MaxIdle.Seconds()))
	}
	if i.Times != nil && (*i.Times < 0 || *i.Times > MaxAsks) {
		return callwright.Invalid(prefix+"times", "must be from 0 to %d", MaxAsks)
	}
	if i.FillerAfter != nil && (*i.FillerAfter < 0 || *i.FillerAfter > MaxFiller) {
		return callwright.Invalid(prefix+"filler_after", "must be from 0 to %d seconds", int(MaxFiller.Seconds()))
	}
	return nil
}

// Filled returns i with the defaults of a language in place of fields that are not set. i may be nil.
func (i *Idle) Filled(language string) Idle {
	filled := Idle{}
	if i != nil {
		filled = *i
	}
	lines := i.Lines().Filled(language)
	filled.After, filled.FillerAfter = cmp.Or(filled.After, new(conversation.DefaultSilence)), cmp.Or(filled.FillerAfter, new(defaultFiller))
	filled.Times, filled.Filler = cmp.Or(filled.Times, new(maxSilences)), cmp.Or(filled.Filler, Filler(language))
	filled.Prompt, filled.Goodbye = lines.StillThere, lines.Goodbye
	return filled
}

// Lines returns the sentences of i. The other lines are empty.
func (i *Idle) Lines() Lines {
	if i == nil {
		return Lines{}
	}
	return Lines{StillThere: i.Prompt, Goodbye: i.Goodbye}
}

// Asks returns Times, or nil.
func (i *Idle) Asks() *int {
	if i == nil {
		return nil
	}
	return i.Times
}

// Configure sets the silence, the filler and the apology of a conversation in a language. i may be nil.
func (i *Idle) Configure(c *conversation.Config, language string) {
	if i == nil {
		i = &Idle{}
	}
	if i.After != nil {
		c.Silence = cmp.Or(*i.After, never)
	}
	c.Apology = Lines{}.Filled(language).Apology
	filled := i.Filled(language)
	c.Filler = conversation.Filler{Text: filled.Filler, After: *filled.FillerAfter}
}
