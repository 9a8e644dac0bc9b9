package pocketsphinx

import "strings"

// competitors are words that callers say often, and "I don't know", which begins with a refusal. Without competitors, the grammar reads short
// words as consents and refusals that resemble them more than loose phones do: "Thursday" as "sure". An utterance with a competitor is dictated.
// Other phrases have no competitors: a long phrase would lose words to them, and its utterance would be dictated.
var competitors = append(strings.Fields(`
the a i you it he she we they this that these those there here is are was were am be do does did have has had can could will would shall
should may might must not and but or if so because when while what who where why how which whose what's who's where's how's it's i'm you're
he's we're they're i've i'd i'll isn't don't doesn't didn't can't couldn't won't wouldn't
hello hi hey good morning afternoon evening night bye goodbye please thanks thank sorry excuse pardon welcome
zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
twenty thirty forty fifty sixty seventy eighty ninety hundred thousand half quarter double first second third fourth fifth
monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december
today tomorrow tonight yesterday noon midnight week weekend month year day hour minute moment time next last o'clock early later late now
soon then before after again
like just really maybe perhaps probably actually right left
wait stop hold hang on listen look see know mean think want need get got give take make go going come call talk speak say said tell ask help
hear heard understand repeat find buy pay send book change cancel check leave meet work use try keep put
my your his her our their me him us them mine yours myself someone somebody anyone nobody everyone everything something anything nothing
in at to of for from with about by up down out off over under into through between during until since without
all some any many much more most less few little other another each every both same different such
new old bad better best worse great nice fine big small long short high low hot cold free busy full open closed ready wrong true false sure
easy hard man woman person people name number phone address email letter question answer problem appointment account card bill money price
cost order doctor office company house home street city car agent operator human colleague manager customer service room table water food
children wife husband mother father friend school bus train red blue green white black
`), "i don't know")

// hesitations are sounds before or after a phrase, which do not change it.
var hesitations = strings.Fields("um uh er ah hmm")

const (
	// competition is the probability of a competitor, and of a hesitation, relative to the probability of a phrase.
	competition = 0.03
)
