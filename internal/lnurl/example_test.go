package lnurl_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/swapper-go/swapper/internal/lnurl"
)

func ExampleParse() {
	l, err := lnurl.Parse("lightning:Satoshi@Pay.Example")
	fmt.Println(l.Text(), l.URL(), err)
	_, err = lnurl.Parse("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq")
	fmt.Println(errors.Is(err, lnurl.ErrNotLink))
	// Output:
	// satoshi@pay.example https://pay.example/.well-known/lnurlp/satoshi <nil>
	// true
}

func ExampleClient_Resolve() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"tag":"payRequest","callback":"http://127.0.0.1/cb","minSendable":1500,"maxSendable":5000999,
			"metadata":"[[\"text/plain\",\"Coffee\"]]"}`)
	}))
	defer service.Close()
	text, err := lnurl.Encode(service.URL)
	if err != nil {
		fmt.Println(err)
		return
	}

	_, err = lnurl.New(lnurl.Config{}).Resolve(context.Background(), text)
	fmt.Println(err)

	local := lnurl.New(lnurl.Config{AllowLocal: true}) // a test network
	details, err := local.Resolve(context.Background(), text)
	if pay, ok := details.(*lnurl.Pay); ok {
		fmt.Println(pay.ShortDescription, pay.MinSats, pay.MaxSats, err)
	}
	// Output:
	// the link must point to an https address, not http
	// Coffee 2 5000 <nil>
}
