package tts

import "context"

// Styled returns a Synthesizer that speaks with other factors and by a guide. It multiplies the factors of each request by those of p, and
// rewrites each text with g, which may be nil.
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
	r.Text = s.guide.Rewrite(r.Text)
	r.Prosody = r.Prosody.Times(s.prosody)
	return s.engine.Synthesize(ctx, r)
}
