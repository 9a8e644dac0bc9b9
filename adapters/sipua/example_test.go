package sipua_test //nolint:testableexamples // it needs certificates and a peer, so it is compiled only

import (
	"context"
	"log/slog"

	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
)

// A telephone line that answers every call and stays silent.
func Example() {
	ctx := context.Background()
	line, err := sipua.New(sipua.Config{
		Listen: "192.0.2.1:5061",
		// Certificates, Media and Routes are required, too.
	})
	if err != nil {
		slog.Error("no telephone line", "error", err)
		return
	}
	defer line.Close(ctx)
	go func() { _ = line.Run(ctx) }()
	for {
		pending, err := line.Accept(ctx)
		if err != nil {
			return
		}
		go func() {
			leg, err := pending.Answer(ctx)
			if err != nil {
				return // the caller has given up
			}
			<-leg.Done()
			slog.Info("call ended", "from", pending.Caller().From, "cause", leg.Ending().Cause)
		}()
	}
}

var _ call.Line = (*sipua.UA)(nil)
