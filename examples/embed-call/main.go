// Command embed-call answers calls over SIP with TLS and SRTP, and uses its own engines, which you replace with yours. The recognizer
// measures how long the caller spoke, the brain repeats this, and the synthesizer plays a tone for each word. Call it with: go run
// ./examples/softphone --dial +15550000001 --server sip:127.0.0.1:5062 --say "Anybody there?"
package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"iter"
	"log"
	"math"
	"net/netip"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/speech/tts"
)

var codecs = codec.Set{g711.PCMU(), g711.PCMA()}

func main() {
	listen := flag.String("listen", "127.0.0.1:5062", "address of SIP over TLS; port 0 takes any free port")
	data := flag.String("data", "./data", "folder of the test authority, which peers must trust")
	flag.Parse()
	authority := must(testca.Open(*data)) // in production, use a certificate that your peers trust
	media := must(rtpmedia.New(rtpmedia.Config{IP: netip.MustParseAddr("127.0.0.1"), Codecs: codecs.New}))
	line := must(sipua.New(sipua.Config{
		Listen: *listen, Certificates: []tls.Certificate{must(authority.Issue("localhost", "127.0.0.1"))}, Media: media, Routes: routes{},
		AllowPrivate: true, // allows peers on this machine and its network; omit it on the Internet
	}))
	store := memstore.New() // adapters/bunstore stores calls in SQLite or PostgreSQL
	work := memstore.NewWork(store, nil)
	calls := must(call.New(call.Config{
		Store: agentstore.Calls{Store: store}, Leases: memstore.Leases{Store: store}, Atomic: store, Work: work, Line: line,
		Recognizer: recognizer{}, Synthesizer: synthesizer{}, Observe: show,
		NewBrain: func(context.Context, call.Call) (conversation.Brain, error) { return brain{}, nil },
	}))
	go func() { log.Fatal(line.Run(context.Background())) }()
	go func() { _ = work.Run(context.Background()) }()
	fmt.Println("listening at", line.URI())
	log.Fatal(calls.Run(context.Background()))
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func show(o call.Observation) { fmt.Println(o.What, o.Line.Speaker, o.Line.Text+o.Partial.Text) }

// routes accepts every inbound call and has no outbound route. Use sip.Service to route calls by trunks instead.
type routes struct{}

func (routes) Inbound(_ context.Context, to callwright.PhoneNumber, _ sip.Peer) (sip.Route, error) {
	return sip.Route{Org: "acme", Number: to, Codecs: codecs.Names()}, nil
}

func (routes) Outbound(context.Context, callwright.OrgID, callwright.PhoneNumber) (sip.Route, error) {
	return sip.Route{}, callwright.NotFound("trunk")
}

type brain struct{}

func (brain) Respond(_ context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		if t.Kind != conversation.TurnSpeech {
			yield(conversation.Say{Text: "Say something."}, nil)
		} else if yield(conversation.Say{Text: "I heard " + t.Text + ". Goodbye."}, nil) {
			yield(conversation.End{}, nil)
		}
	}
}

type recognizer struct{}

func (recognizer) Listen(_ context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	return &utterance{perMillisecond: h.Rate / 1000}, nil
}

type utterance struct{ perMillisecond, samples int }

func (u *utterance) Write(samples []int16) error { u.samples += len(samples); return nil }
func (u *utterance) Close() error                { return nil }
func (u *utterance) Finish(context.Context) (conversation.Recognized, error) {
	return conversation.Recognized{Text: fmt.Sprint(u.samples/u.perMillisecond, " milliseconds"), Confidence: 1}, nil
}

type synthesizer struct{}

func (synthesizer) Synthesize(_ context.Context, s tts.Request) (tts.Stream, error) {
	return &tones{hertz: 440, rate: s.Rate, left: len(strings.Fields(s.Text)) * s.Rate / 5}, s.Check()
}

type tones struct{ hertz, rate, left int } // plays 200 milliseconds for each word

func (t *tones) Close() error { t.left = 0; return nil }
func (t *tones) Read(p []int16) (n int, err error) {
	for ; n < len(p) && t.left > 0; n, t.left = n+1, t.left-1 {
		loud := 8000 * math.Sin(math.Pi*float64(t.left%(t.rate/5))/float64(t.rate/5)) // volume rises and falls within each word
		p[n] = int16(loud * math.Sin(2*math.Pi*float64(t.hertz*t.left)/float64(t.rate)))
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
