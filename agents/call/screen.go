package call

import (
	"cmp"
	"context"
	"sync"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
)

// amdAudio passes the audio of a placed call to an AMD, and the words that the conversation recognizes.
type amdAudio struct {
	conversation.Audio
	identified func(Answerer) // called by Read when the answerer changes

	mu    sync.Mutex // the conversation's observer writes words while Read passes frames
	amd   AMD
	heard string // words of the other side's last turn
	open  bool   // words of a turn that is not over were recognized

	// The following fields belong to the goroutine that reads.
	answerer Answerer
	watch    func(f conversation.Frame, ended bool) // called by Read after each frame; may be nil. ended is AMD.Ended
}

// Read reads a frame and passes it to the AMD.
func (a *amdAudio) Read(ctx context.Context) (conversation.Frame, error) {
	f, err := a.Audio.Read(ctx)
	if err != nil {
		return f, err
	}
	a.mu.Lock()
	now, ended := a.amd.Hear(f), a.amd.Ended()
	a.mu.Unlock()
	if now != a.answerer && now.Category != "" {
		a.answerer = now
		a.identified(now)
	}
	if a.watch != nil {
		a.watch(f, ended)
	}
	return f, nil
}

// words passes recognized words to the AMD. open reports whether they belong to a turn that is not over.
func (a *amdAudio) words(text string, final, open bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.amd.Words(text, final)
	if a.open = open; final {
		a.heard = text
	}
}

// turns returns the words of the other side's last turn, and whether a later turn with words is not over.
func (a *amdAudio) turns() (heard string, open bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.heard, a.open
}

// restart replaces the AMD, because another party is expected.
func (a *amdAudio) restart(amd AMD) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.amd, a.answerer, a.heard = amd, Answerer{}, ""
}

// wordObserver is an observer that also passes the other side's words to an AMD.
type wordObserver struct {
	conversation.Observer
	audio *amdAudio
}

// Entry implements conversation.Observer.
func (o wordObserver) Entry(e conversation.Entry) {
	if e.Role == conversation.RoleCaller && !e.Digits {
		o.audio.words(e.Text, true, false)
	}
	o.Observer.Entry(e)
}

// Spoken implements conversation.SpeechObserver.
func (o wordObserver) Spoken(e conversation.Entry) {
	if speech, ok := o.Observer.(conversation.SpeechObserver); ok {
		speech.Spoken(e)
	}
}

// Partial implements conversation.PartialObserver.
func (o wordObserver) Partial(p conversation.Partial) {
	o.audio.words(p.Text, false, p.Turn > 0 && p.Text != "")
	if partial, ok := o.Observer.(conversation.PartialObserver); ok {
		partial.Partial(p)
	}
}

// detectMachine returns audio that runs the AMD on a placed call and records the answering party. It returns nil for an incoming call, and
// without Config.AMD.
func (s *Service) detectMachine(c *Call, audio conversation.Audio, book *recordWriter) *amdAudio {
	if c.Inbound || s.cfg.AMD == nil {
		return nil
	}
	return &amdAudio{Audio: audio, amd: s.cfg.AMD(audio.Rate(), c.Agent.Language), identified: func(a Answerer) {
		a.Words = writable(a.Words)
		changed := a.Category != c.Answerer.Category
		c.Answerer, c.AnsweredBy = a, a.answeredBy()
		book.changed(*c)
		if changed {
			book.notice(EventsCall, EventInfo, "answered by: "+string(a.Category))
			s.observed.add(Observation{What: ObservedAnsweredBy, At: book.clock.Now(), Call: *c})
		}
	}}
}

// reaction returns the action of the call's plan and agent for an answerer, and the text of the action, if any.
func (c *Call) reaction(by Category) (action agents.MachineAction, text string) {
	m := c.Agent.Machines
	switch by {
	case CategoryVoicemail:
		if c.Plan.Voicemail.Action != "" {
			return c.Plan.Voicemail.Action, c.Plan.Voicemail.Message
		}
		return cmp.Or(m.Voicemail, agents.MachineIgnore), m.VoicemailMessage
	case CategoryIVR:
		return cmp.Or(m.IVR, agents.MachineIgnore), ""
	case CategoryScreening:
		return cmp.Or(m.Screening, agents.MachineIgnore), m.ScreeningMessage
	case CategoryAnnouncement, CategorySIT:
		return cmp.Or(m.Announcement, agents.MachineHangup), ""
	case CategoryFax:
		return cmp.Or(m.Fax, agents.MachineHangup), ""
	default:
		return agents.MachineIgnore, ""
	}
}
