package platform_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/platform"
)

// The reference server with a model and a name of its own, until it is interrupted.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c := platform.Defaults()
	c.Data, c.ProviderName = "/var/lib/acme", "Acme Telecom"
	c.Model = scripted.New() // any llm.Model
	p, err := platform.New(c)
	if err == nil {
		err = p.Run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
