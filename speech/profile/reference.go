package profile

// references contains, by language, the texts that a voice reads when it is measured: plain sentences without numbers and names. A voice of
// another language reads English, which does not affect its pitch.
var references = map[string]string{
	"en": "Good morning, and thank you for calling. The office is open from nine to five on every working day. " +
		"If you would like to make an appointment, please tell me which day suits you best. I will look into the calendar and call you back this afternoon.",
	"de": "Guten Morgen, und vielen Dank für Ihren Anruf. Das Büro ist an jedem Werktag von neun bis siebzehn Uhr geöffnet. " +
		"Wenn Sie einen Termin vereinbaren möchten, sagen Sie mir bitte, welcher Tag Ihnen am besten passt. Ich sehe im Kalender nach und rufe Sie heute Nachmittag zurück.",
	"es": "Buenos días y gracias por llamar. La oficina está abierta de nueve a cinco todos los días laborables. " +
		"Si desea concertar una cita, dígame por favor qué día le conviene más. Voy a mirar el calendario y le llamaré esta tarde.",
	"fr": "Bonjour et merci de votre appel. Le bureau est ouvert de neuf heures à cinq heures tous les jours ouvrables. " +
		"Si vous souhaitez prendre rendez-vous, dites-moi quel jour vous convient le mieux. Je regarde le calendrier et je vous rappelle cet après-midi.",
	"it": "Buongiorno e grazie per la chiamata. L'ufficio è aperto dalle nove alle cinque tutti i giorni lavorativi. " +
		"Se desidera fissare un appuntamento, mi dica quale giorno preferisce. Guardo il calendario e la richiamo questo pomeriggio.",
}

// reference returns the text for a language, or the English text if references has none.
func reference(language string) string {
	if text, ok := references[broad(language)]; ok {
		return text
	}
	return references["en"]
}
