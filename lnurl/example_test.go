package lnurl_test

import (
	"fmt"

	"github.com/swapper-go/swapper/lnurl"
)

func Example() {
	url, err := lnurl.URL("lightning:Satoshi@Pay.Example")
	fmt.Println(url, err)
	text, err := lnurl.Encode(url)
	fmt.Println(lnurl.IsLink(text), err)
	back, err := lnurl.URL(text)
	fmt.Println(back == url, err)
	fmt.Println(lnurl.IsLink("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"))
	// Output:
	// https://pay.example/.well-known/lnurlp/satoshi <nil>
	// true <nil>
	// true <nil>
	// false
}
