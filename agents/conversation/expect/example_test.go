package expect_test

import (
	"fmt"

	"github.com/callwright/callwright/agents/conversation/expect"
)

func ExampleDigitsIn() {
	fmt.Println(expect.DigitsIn("en-US", "It's double oh seven, twenty-one."))
	fmt.Println(expect.DigitsIn("fr", "zéro six, soixante-douze"))
	// Output:
	// 00721
	// 0672
}

func ExampleNumberIn() {
	fmt.Println(expect.NumberIn("en", "double five, five oh one, no wait, double five, five oh one two three", 7, 7))
	fmt.Println(expect.NumberIn("en", "it is double five, five", 7, 7))
	// Output:
	// 5550123
	// 555
}

func ExampleTrailingDigits() {
	fmt.Println(expect.TrailingDigits("en", "Flight 12. My number is five, um, five"))
	// Output: 55
}
