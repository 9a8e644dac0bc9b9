package g711_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/codec/g711"
)

func ExamplePCMU() {
	codec, err := g711.PCMU().New()
	if err != nil {
		fmt.Println(err)
		return
	}
	payload, err := codec.Encode(nil, make([]int16, codec.Rate()/50)) // 20 ms
	if err != nil {
		fmt.Println(err)
		return
	}
	samples, err := codec.Decode(nil, payload)
	fmt.Println(codec.Name(), codec.Rate(), "Hz,", len(samples), "samples", err)
	// Output: PCMU 8000 Hz, 160 samples <nil>
}
