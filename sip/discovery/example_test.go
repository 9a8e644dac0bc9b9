package discovery_test

import (
	"context"
	"fmt"
	"time"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/fingerprint"
	"github.com/callwright/callwright/sip/resolve"
)

// everywhere is a Prober that finds the same server at every address. adapters/sipua/probe implements a real Prober.
type everywhere struct{}

func (everywhere) Probe(_ context.Context, p discovery.Probe) discovery.Answer {
	return discovery.Answer{
		Attempt: discovery.Attempt{Address: p.Address, Transport: p.Transport, Code: 200, TLS: &discovery.Certificate{
			Version: "TLS 1.3", Chain: true, Name: true, ExpiresAt: time.Now().Add(time.Hour),
		}},
		Headers: []fingerprint.Header{{Name: "Server", Value: "Asterisk PBX 20.9.3"}},
	}
}

func Example() {
	ctx := context.Background()
	resolver, err := resolve.New(resolve.Config{DNS: pbx})
	if err != nil {
		fmt.Println(err)
		return
	}
	service, err := discovery.New(discovery.Config{
		Store: sipstore.Discoveries{Store: memstore.New()}, Resolver: resolver, Prober: everywhere{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := service.Start(ctx, "org", discovery.Request{Host: "pbx.test"})
	for err == nil && d.Status == discovery.Running {
		<-time.After(time.Millisecond)
		d, err = service.Get(ctx, "org", d.ID)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Status, d.Recommended.Port, d.Recommended.Transport, d.Recommended.System.System)
	fmt.Println(service.Close(ctx))
	// Output:
	// completed 5061 tls Asterisk
	// <nil>
}
