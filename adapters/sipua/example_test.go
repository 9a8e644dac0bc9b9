package sipua_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"

	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/uri"
)

// A user agent calls another over TLS. The callee answers, and the caller hangs up.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ca, err := authority()
	if err != nil {
		fmt.Println(err)
		return
	}
	certificate, err := ca.Issue("127.0.0.1")
	if err != nil {
		fmt.Println(err)
		return
	}
	route := trunk.Route{Org: org, TrunkID: "trunk", Codecs: []string{"PCMU"}}
	config := sipua.Config{
		Listen: "127.0.0.1:0", Certificates: []tls.Certificate{certificate}, Roots: ca.Pool(),
		Media: &media{}, Routes: &routes{route: route}, AllowPrivate: true, // both user agents listen on loopback
	}
	callee, err := sipua.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer runLine(ctx, callee)()
	server, err := uri.Parse("sip:" + callee.Addr().String() + ";transport=tls")
	if err != nil {
		fmt.Println(err)
		return
	}
	route.Servers = []uri.URI{server}
	config.Routes = &routes{route: route}
	caller, err := sipua.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer runLine(ctx, caller)()

	ended := make(chan error)
	go func() { ended <- answerOne(ctx, callee) }()
	leg, err := caller.Dial(ctx, call.DialRequest{Org: org, From: alice, To: bob}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(leg.Hangup(ctx), leg.Ending().Cause)
	fmt.Println(<-ended)
	// Output:
	// call from +15550100001
	// <nil> local_hangup
	// <nil>
}

// runLine starts line.Run, and returns a function that closes the line and waits for Run to return.
func runLine(ctx context.Context, line *sipua.UA) (stop func()) {
	var running sync.WaitGroup
	running.Go(func() { _ = line.Run(ctx) })
	return func() {
		_ = line.Close(ctx)
		running.Wait()
	}
}

// answerOne answers the next call, and waits until the call ends.
func answerOne(ctx context.Context, line *sipua.UA) error {
	incoming, err := line.Accept(ctx)
	if err != nil {
		return err
	}
	fmt.Println("call from", incoming.Caller().From)
	leg, err := incoming.Answer(ctx)
	if err != nil {
		return err
	}
	<-leg.Done()
	return nil
}

var _ call.Line = (*sipua.UA)(nil)
