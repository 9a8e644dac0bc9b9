package tts

import "context"

// Styled returns a Synthesizer that speaks with other factors and by a guide. It multiplies the factors of each request by those of p, and
// rewrites each text with g, which may be nil. Marks are those of the text before it was rewritten.
func Styled(s Synthesizer, p Prosody, g *Guide) Synthesizer {
	if g == nil && p == (Prosody{}) {
		return s
	}
	return styled{s, p, g}
}

type styled struct {
	engine  Synthesizer
	prosody Prosody
	guide   *Guide
}

// Synthesize implements Synthesizer.
func (s styled) Synthesize(ctx context.Context, r Request) (Stream, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	r.Prosody = r.Prosody.Times(s.prosody)
	if s.guide == nil {
		return s.engine.Synthesize(ctx, r)
	}
	text := s.guide.rewrite(r.Text)
	r.Text = text.text
	stream, err := s.engine.Synthesize(ctx, r)
	if err != nil {
		return nil, err
	}
	return &guided{stream, text}, nil
}

// Talk implements Talker.
func (s styled) Talk(ctx context.Context, r Request) Talk {
	if err := r.Prosody.Check(); err != nil {
		return Refuse(err)
	}
	r.Prosody = r.Prosody.Times(s.prosody)
	t := Open(ctx, s.engine, r)
	if s.guide == nil {
		return t
	}
	return guidedTalk{t, s.guide}
}

// guidedTalk is a Talk that rewrites its pieces by a guide.
type guidedTalk struct {
	Talk

	guide *Guide
}

// Answer implements Talk.
func (t guidedTalk) Answer(ctx context.Context) Answer {
	return guidedAnswer{t.Talk.Answer(ctx), t.guide}
}

type guidedAnswer struct {
	Answer

	guide *Guide
}

// Say implements Answer.
func (a guidedAnswer) Say(text string) Stream {
	rewritten := a.guide.rewrite(text)
	return &guided{a.Answer.Say(rewritten.text), rewritten}
}

// guided is the stream of a rewritten text. Its marks are those of the written text.
type guided struct {
	Stream

	text rewritten
}

// Marks implements Marker.
func (g *guided) Marks() []Mark { return g.text.marks(MarksOf(g.Stream)) }
