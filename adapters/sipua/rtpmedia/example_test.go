package rtpmedia_test

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
)

// A session holds a pair of ports until it is closed. The program provides the codecs.
func Example() {
	media, err := rtpmedia.New(rtpmedia.Config{
		IP: netip.MustParseAddr("127.0.0.1"), Codecs: codec.Set{g711.PCMU(), g711.PCMA()}.New,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := media.Open(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(session.Local().Addr(), session.Local().Port()%2, session.Rate())
	fmt.Println(media.Counters().Sessions)
	fmt.Println(session.Close(), media.Counters().Sessions)
	// Output:
	// 127.0.0.1 0 8000
	// 1
	// <nil> 0
}
