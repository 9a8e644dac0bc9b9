package platform_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/platform"
)

// Example configures the reference server with another model and provider name, and shows the error for an invalid setting. Platform.Run
// would start the server, and stop it when the context of Run ends.
func Example() {
	c := platform.Defaults()
	c.Data, c.ProviderName = "/var/lib/acme", "Acme Telecom"
	c.Model = scripted.New() // replace it with any llm.Model
	p, err := platform.New(c)
	fmt.Println(p != nil, err)

	c.SIPAddr = "pbx.acme.example"
	_, err = platform.New(c)
	fmt.Println(err)
	// Output:
	// true <nil>
	// --sip-addr must be an IP address and a port such as 192.0.2.1:5061, or :5061 for every address, not "pbx.acme.example"; a name for peers goes into --public-host
}
