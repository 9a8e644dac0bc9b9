package price_test

import (
	"fmt"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
)

func ExampleTable_Cost() {
	prices := price.Default()
	cost, known := prices.Cost("gpt-4o-mini", llm.Usage{Input: 1200, Cached: 1000, Output: 40})
	fmt.Println(cost, known)
	_, known = prices.Cost("a model of this company", llm.Usage{Input: 1200})
	fmt.Println(known)
	// Output:
	// 0.000129 true
	// false
}
