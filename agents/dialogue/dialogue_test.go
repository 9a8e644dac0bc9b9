package dialogue_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
)

// agent, caller and answered return messages of the agent, the caller and a tool.
func agent(text string, calls ...string) llm.Message {
	m := llm.Message{Role: llm.RoleAgent, Text: text}
	for _, id := range calls {
		m.Calls = append(m.Calls, llm.ToolCall{ID: id, Name: "t", Arguments: json.RawMessage("{}")})
	}
	return m
}

func caller(text string) llm.Message { return llm.Message{Role: llm.RoleCaller, Text: text} }

func answered(id string) llm.Message {
	return llm.Message{Role: llm.RoleTool, Text: `{"answer":1}`, Call: id}
}

// written describes messages as text.
func written(messages []llm.Message) string {
	var out []string
	for _, m := range messages {
		parts := []string{string(m.Role) + ": " + m.Text}
		for _, c := range m.Calls {
			parts = append(parts, "["+c.ID+"]")
		}
		out = append(out, strings.Join(parts, " "))
	}
	return strings.Join(out, " | ")
}

func speech(text string) conversation.Turn {
	return conversation.Turn{Kind: conversation.TurnSpeech, Text: text}
}

// cut returns a turn of speech that interrupts the agent after the heard words.
func cut(text, heard string) conversation.Turn {
	return conversation.Turn{Kind: conversation.TurnSpeech, Text: text, Interrupted: true, Heard: heard}
}

// starts returns the Starts of an agent's words in messages, each of which was said sentence by sentence.
func starts(messages []llm.Message) (out []int) {
	at := 0
	for _, m := range messages {
		for sentence := range strings.SplitAfterSeq(m.Text, ". ") {
			if m.Role == llm.RoleAgent && sentence != "" {
				out = append(out, at)
				at += len(strings.TrimSpace(sentence)) + 1
			}
		}
	}
	return out
}

func TestHear(t *testing.T) {
	t.Parallel()
	plain := []llm.Message{caller("go"), agent("One. Two. Three.")}
	tools := []llm.Message{caller("go"), agent("One moment.", "a", "b"), answered("a"), answered("b"), agent("It is free.", "c"), answered("c"), agent("Booked.")}
	silent := []llm.Message{caller("go"), agent("", "a"), answered("a"), agent("It is free.")}
	for name, test := range map[string]struct {
		before []llm.Message
		last   int
		turn   conversation.Turn
		want   string
		rest   string
	}{
		"the first":            {nil, 0, speech("hi"), "caller: hi", ""},
		"to the end":           {plain, 2, speech("ok"), "caller: go | agent: One. Two. Three. | caller: ok", ""},
		"digits":               {plain, 2, conversation.Turn{Kind: conversation.TurnDigits, Text: "12"}, "caller: go | agent: One. Two. Three. | caller: (pressed 12)", ""},
		"more":                 {[]llm.Message{caller("go")}, 0, speech("on"), "caller: go on", ""},
		"start":                {plain, 2, conversation.Turn{Kind: conversation.TurnStart}, "caller: go | agent: One. Two. Three.", ""},
		"cut":                  {plain, 2, cut("no", "One. Two."), "caller: go | agent: One. Two. | caller: no", "Three."},
		"cut in a sentence":    {plain, 2, cut("no", "One. Tw"), "caller: go | agent: One. Tw | caller: no", "Two. Three."},
		"nothing was heard":    {plain, 2, cut("no", ""), "caller: go no", "One. Two. Three."},
		"by a noise":           {plain, 2, cut("", "One."), "caller: go | agent: One.", "Two. Three."},
		"something else":       {plain, 2, cut("no", "Never."), "caller: go | agent: Never. | caller: no", "One. Two. Three."},
		"nothing to cut":       {plain, 0, cut("no", ""), "caller: go | agent: One. Two. Three. | caller: no", ""},
		"tools, all":           {tools, 2, speech("ok"), written(tools) + " | caller: ok", ""},
		"tools, nothing":       {tools, 2, cut("no", ""), "caller: go | agent:  [a] [b] | tool: {\"answer\":1} | tool: {\"answer\":1} | agent:  [c] | tool: {\"answer\":1} | caller: no", "One moment. It is free. Booked."},
		"tools, the speech":    {tools, 2, cut("no", "One moment."), "caller: go | agent: One moment. [a] [b] | tool: {\"answer\":1} | tool: {\"answer\":1} | agent:  [c] | tool: {\"answer\":1} | caller: no", "It is free. Booked."},
		"tools, in the speech": {tools, 2, cut("no", "One"), "caller: go | agent: One [a] [b] | tool: {\"answer\":1} | tool: {\"answer\":1} | agent:  [c] | tool: {\"answer\":1} | caller: no", "One moment. It is free. Booked."},
		"tools, the answer":    {tools, 2, cut("no", "One moment. It is"), "caller: go | agent: One moment. [a] [b] | tool: {\"answer\":1} | tool: {\"answer\":1} | agent: It is [c] | tool: {\"answer\":1} | caller: no", "It is free. Booked."},
		"tools, to the end":    {tools, 2, cut("no", "One moment. It is free. Booked."), written(tools) + " | caller: no", ""},
		"a silent call":        {silent, 2, cut("no", "It is"), "caller: go | agent:  [a] | tool: {\"answer\":1} | agent: It is | caller: no", "It is free."},
		"a silent call alone":  {silent, 2, cut("no", ""), "caller: go | agent:  [a] | tool: {\"answer\":1} | caller: no", "It is free."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := dialogue.Talk{Messages: slices.Clone(test.before), Last: test.last, Opened: true, Starts: starts(test.before)}
			talk := before
			rest := talk.Hear(test.turn)
			if got := written(talk.Messages); got != test.want || rest != test.rest {
				t.Errorf("the talk is\n%s, rest %q\nwant\n%s, rest %q", got, rest, test.want, test.rest)
			}
			if !reflect.DeepEqual(before.Messages, test.before) {
				t.Errorf("the talk before became %s", written(before.Messages))
			}
		})
	}
}

// TestPatience checks the courtesies for silence and noise at every count that changes them.
func TestPatience(t *testing.T) {
	t.Parallel()
	silence, noise := conversation.Turn{Kind: conversation.TurnSilence}, speech("")
	for _, test := range []struct {
		turn     conversation.Turn
		opened   bool
		silences int // count before the turn
		unclear  int
		rest     string
		want     dialogue.Courtesy
	}{
		{silence, false, 0, 0, "", dialogue.None},
		{silence, true, 0, 0, "", dialogue.StillThere},
		{silence, true, 1, 2, "", dialogue.StillThere},
		{silence, true, 1, 0, "rest", dialogue.StillThere},
		{silence, true, 2, 0, "", dialogue.Goodbye},
		{silence, true, 7, 0, "rest", dialogue.Goodbye},
		{noise, false, 0, 0, "", dialogue.None},
		{noise, true, 0, 0, "", dialogue.Repeat},
		{noise, true, 2, 1, "", dialogue.Repeat},
		{noise, true, 0, 1, "rest", dialogue.GoOn},
		{noise, true, 0, 2, "rest", dialogue.Goodbye},
		{noise, true, 0, 2, "", dialogue.Goodbye},
		{speech("word"), true, 9, 9, "rest", dialogue.None},
		{conversation.Turn{Kind: conversation.TurnDigits, Text: "1"}, true, 9, 9, "", dialogue.None},
		{conversation.Turn{Kind: conversation.TurnStart}, true, 9, 9, "", dialogue.None},
	} {
		talk := dialogue.Talk{Opened: test.opened, Silences: test.silences, Unclear: test.unclear}
		talk.Hear(test.turn)
		if got := talk.Patience(test.turn, test.rest, nil); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// TestFilled checks that every language has all sentences, and that own sentences are not replaced.
func TestFilled(t *testing.T) {
	t.Parallel()
	english := dialogue.Lines{}.Filled("en")
	for _, language := range []string{"en", "de", "es", "fr", "it", "nl", "pt"} {
		filled := reflect.ValueOf(dialogue.Lines{}.Filled(language))
		for i := range filled.NumField() {
			if text := filled.Field(i).String(); text == "" || language != "en" && text == reflect.ValueOf(english).Field(i).String() {
				t.Errorf("%s: %s is %q", language, filled.Type().Field(i).Name, text)
			}
		}
		if filler := dialogue.Filler(language); filler == "" || language != "en" && filler == dialogue.Filler("en") {
			t.Errorf("%s: the filler is %q", language, filler)
		}
	}
	if got := (dialogue.Lines{}).Filled("xx"); got != english {
		t.Errorf("an unknown language has %+v", got)
	}
	if got := (dialogue.Lines{}).Filled("de-AT").StillThere; got != "Sind Sie noch da?" {
		t.Errorf("Austria's German has %q", got)
	}
	own := dialogue.Lines{Repeat: "a", StillThere: "b", Goodbye: "c", Apology: "d", NotReached: "e", GoAhead: "f", TakeYourTime: "g", NotUnderstood: "h", Digits: "i"}
	if own.Filled("de") != own {
		t.Errorf("%+v became %+v", own, own.Filled("de"))
	}
}

// TestAsksToWait checks that only requests to wait are found, with the reason that the caller may add.
func TestAsksToWait(t *testing.T) {
	t.Parallel()
	for language, texts := range map[string][2][]string{
		"en": {
			{
				"One moment.", "hold on", "Okay, one moment please.", "uh just a second", "Hang on, I'll get my card.", "Let me check.",
				"Sure. Let me find it, it must be here somewhere.", "Give me a minute, I am looking for it", "wait, let me get my glasses",
			},
			{
				"", "yes", "Okay.", "Wait, that's wrong.", "I need to find a doctor.", "I am looking for a table.", "Let me get a pizza.",
				"hold on to the reservation", "One moment, what does it cost?", "A second pizza please.", "I can't wait", "please",
				"wait, let me get this straight, you want me to pay twice for something that I never ordered?",
			},
		},
		"de-DE": {
			{"Einen Moment bitte.", "Ja, warten Sie mal, ich hole meine Karte", "Moment", "ähm da muss ich nachsehen", "Bleiben Sie dran."},
			{"Ja.", "Ich muss zum Arzt.", "Im Moment nicht.", "Warten Sie, das stimmt nicht.", "Ich suche eine Wohnung."},
		},
		"es": {{"Un momento, por favor.", "espere, voy a buscar mi tarjeta", "Déjeme ver."}, {"Voy a pagar con tarjeta.", "sí", "espero que sí"}}, //nolint:misspell // Spanish
		"fr": {{"Un instant, s'il vous plaît.", "attendez je vais chercher ma carte", "Oui, une petite seconde."}, {"Je cherche un hôtel.", "oui", "d'accord"}},
		"it": {{"Un attimo.", "sì, aspetti, devo cercare il numero"}, {"Devo cambiare l'appuntamento.", "certo"}},
		"nl": {{"Een ogenblikje, alstublieft.", "wacht even, ik pak mijn pas", "even kijken"}, {"Ik zoek een huis.", "ja"}},
		"pt": {{"Só um minutinho.", "espera aí, vou pegar o cartão"}, {"Vou pagar com cartão.", "sim"}},
	} {
		for _, text := range texts[0] {
			if !dialogue.AsksToWait(language, text) {
				t.Errorf("%s: %q does not ask to wait", language, text)
			}
		}
		for _, text := range texts[1] {
			if dialogue.AsksToWait(language, text) {
				t.Errorf("%s: %q asks to wait", language, text)
			}
		}
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	talk := dialogue.Talk{Messages: []llm.Message{agent("Before.")}, Last: 1}
	var steps []conversation.Step
	a := talk.Answer(func(s conversation.Step) bool {
		steps = append(steps, s)
		return len(steps) < 4
	})
	if !talk.Opened || talk.Last != 0 || a.Spoken() || a.Stopped() || a.Said() != "" {
		t.Errorf("at the beginning the talk is %+v", talk)
	}
	a.Step(conversation.Press{Digits: "1"})
	a.Text(" One.  Two. ")
	if written(talk.Messages) != "agent: Before. | agent: One. Two." || talk.Last != 2 || a.Said() != "One. Two." || a.Stopped() {
		t.Errorf("then the talk is %+v", talk)
	}
	a.Text("Three. Four.")
	a.Step(conversation.End{})
	want := []conversation.Step{conversation.Press{Digits: "1"}, conversation.Say{Text: "One."}, conversation.Say{Text: "Two."}, conversation.Say{Text: "Three."}}
	if !reflect.DeepEqual(steps, want) || a.Said() != "One. Two. Three." || !a.Stopped() || !a.Spoken() {
		t.Errorf("the steps are %v, said %q", steps, a.Said())
	}
	if written(talk.Messages) != "agent: Before. | agent: One. Two. Three." {
		t.Errorf("in the end the talk is %s", written(talk.Messages))
	}
	if a.Text("Five. Six."); talk.Unsaid != "Four. Five. Six." {
		t.Errorf("%q was not said", talk.Unsaid)
	}
}

// TestUnheard checks which words the caller has not heard, after several interruptions.
func TestUnheard(t *testing.T) {
	t.Parallel()
	talk := dialogue.Talk{Messages: []llm.Message{agent("One. Two.")}, Last: 1, Opened: true, Unsaid: "Three.", Starts: []int{0, 5}}
	for i, turn := range []struct {
		turn conversation.Turn
		says string // answer to the turn
		want string
	}{
		{cut("but", "One."), "", "Two. Three."},
		{cut("why", ""), "Four. Five.", "Two. Three."}, // the answer was canceled before its first word
		{cut("so", "Four."), "Six.", "Five."},
		{speech("yes"), "Seven.", ""},
		{cut("no", "Seven."), "", ""},
	} {
		rest := talk.Hear(turn.turn)
		if rest != turn.want || talk.Unheard != turn.want || talk.Unsaid != "" {
			t.Errorf("turn %d: the rest is %q, want %q: %+v", i, rest, turn.want, talk)
		}
		talk.Answer(func(conversation.Step) bool { return true }).Text(turn.says)
	}
}

// TestAnswerBargeIn checks that an answer emits a BargeIn before the words to which it applies, and only after a change.
func TestAnswerBargeIn(t *testing.T) {
	t.Parallel()
	var talk dialogue.Talk
	var steps []conversation.Step
	a := talk.Answer(func(s conversation.Step) bool { steps = append(steps, s); return true })
	never := conversation.BargeIn{Level: conversation.NeverInterrupted}
	a.Text("One.")
	a.BargeIn = never
	a.Text("Two. Three.")
	a.BargeIn = conversation.BargeIn{Level: conversation.ReadilyInterrupted} // without words
	a.BargeIn = conversation.BargeIn{}
	a.Text("Four.")
	want := []conversation.Step{
		conversation.Say{Text: "One."}, never, conversation.Say{Text: "Two."}, conversation.Say{Text: "Three."},
		conversation.BargeIn{}, conversation.Say{Text: "Four."},
	}
	if !reflect.DeepEqual(steps, want) {
		t.Errorf("the steps are %+v", steps)
	}
}

func TestCourtesy(t *testing.T) {
	t.Parallel()
	lines := dialogue.Lines{Repeat: "What?", StillThere: "There?", Goodbye: "Bye.", TakeYourTime: "Sure."}
	for courtesy, want := range map[dialogue.Courtesy]string{
		dialogue.None: "[]", dialogue.StillThere: "[{There?}]", dialogue.Repeat: "[{What?}]", dialogue.GoOn: "[{The rest.}]",
		dialogue.Goodbye: "[{Bye.} {the caller was not heard}]", dialogue.Wait: "[{Sure.} {1m0s}]",
	} {
		talk := dialogue.Talk{Waits: 1}
		var steps []conversation.Step
		talk.Answer(func(s conversation.Step) bool { steps = append(steps, s); return true }).Courtesy(courtesy, "The rest.", lines)
		if got := fmt.Sprint(steps); got != want {
			t.Errorf("%q: %s", courtesy, got)
		}
	}
}

// TestTalkHolds checks with random turns that a talk neither loses nor invents words, and that a copy is independent.
func TestTalkHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var talk dialogue.Talk
		said := ""
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			turn := conversation.Turn{
				Kind: rapid.SampledFrom([]conversation.TurnKind{"speech", "digits", "silence", "start"}).Draw(t, "kind"),
				Text: rapid.SampledFrom([]string{"", "5", "yes please"}).Draw(t, "text"),
			}
			if turn.Kind == conversation.TurnDigits && turn.Text == "" {
				turn.Text = "1"
			}
			if turn.Interrupted = said != "" && rapid.Bool().Draw(t, "interrupted"); turn.Interrupted {
				turn.Heard = strings.TrimSpace(said[:rapid.IntRange(0, len(said)).Draw(t, "heard")])
			}
			copied := talk
			kept := written(copied.Messages)
			rest := talk.Hear(turn)
			if turn.Interrupted {
				checkRest(t, said, turn.Heard, rest)
			}
			_ = talk.Patience(turn, rest, nil)
			a := talk.Answer(func(conversation.Step) bool { return true })
			a.Text(rapid.SampledFrom([]string{"", "One.", "One. Two words.", "One, two: 3,000 and\nfour\nDr. Five – six. Siete"}).Draw(t, "answer"))
			said = a.Said()
			if written(copied.Messages) != kept {
				t.Fatalf("the copy %s became %s", kept, written(copied.Messages))
			}
			for i, m := range talk.Messages {
				if m.Text == "" || i > 0 && m.Role == llm.RoleCaller && talk.Messages[i-1].Role == llm.RoleCaller {
					t.Fatalf("the talk is %s", written(talk.Messages))
				}
			}
			if (talk.Last > 0) != (said != "") || talk.Last > 0 && talk.Messages[talk.Last-1].Text != said {
				t.Fatalf("the last message is not %q: %+v", said, talk)
			}
		}
	})
}

// checkRest checks that the rest continues after the heard part, and repeats at most the heard part of one sentence or line.
func checkRest(t *rapid.T, said, heard, rest string) {
	again := len(heard) + len(rest) - len(said)
	if !strings.HasSuffix(said, rest) || again < -1 || again > len(heard) {
		t.Fatalf("%q was said, %q heard, and the rest is %q", said, heard, rest)
	}
	if again <= 0 {
		return
	}
	begin, begins := len(said)-len(rest), regexp.MustCompile(`^$|(and |four |words\. |One\. |six\. )$`)
	if !begins.MatchString(said[:begin]) || regexp.MustCompile(`(and|four|\.) .`).MatchString(strings.Replace(said[begin:len(heard)], "Dr. ", "", 1)) {
		t.Fatalf("%q was said, %q heard, and the rest %q repeats more than a sentence", said, heard, rest)
	}
}

func BenchmarkTurn(b *testing.B) {
	turn := speech("yes please")
	talk := dialogue.Talk{Messages: []llm.Message{agent("How may I help you?"), caller("A table, please."), agent("For today?")}, Last: 3, Opened: true}
	b.ReportAllocs()
	for b.Loop() {
		next := talk
		_ = next.Patience(turn, next.Hear(turn), nil)
		next.Answer(func(conversation.Step) bool { return true }).Text("Very well. For how many of you?")
	}
}
