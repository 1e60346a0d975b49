// The viewer's time zone for the next page; everything else works without a script.
"use strict";
(function () {
  var zone = "";
  try {
    zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
  } catch (error) {
    zone = "";
  }
  var known = /(?:^|; )argus_tz=([^;]*)/.exec(document.cookie);
  if (zone && (!known || decodeURIComponent(known[1]) !== zone)) {
    var secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = "argus_tz=" + encodeURIComponent(zone) + "; Path=/ui; Max-Age=31536000; SameSite=Strict" + secure;
    // A first page in the hub's zone is drawn again in the viewer's, once, where no form is being filled in.
    if (!known && document.querySelector("main time") && !document.querySelector("main form textarea")) {
      location.reload();
    }
  }
  // Fields left blank stay out of the address of a list or search.
  function setBlank(form, off) {
    Array.prototype.forEach.call(form.elements, function (field) {
      if (field.name && field.value === "") {
        field.disabled = off;
      }
    });
  }
  document.addEventListener("submit", function (event) {
    var form = event.target;
    if (form.method === "get") {
      setBlank(form, true);
      setTimeout(function () {
        setBlank(form, false);
      }, 0);
    }
  });
  // "/" goes to the search box, as on many pages of this kind.
  document.addEventListener("keydown", function (event) {
    var at = document.activeElement;
    var writes = at && /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName);
    if (event.key !== "/" || writes || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    var box = document.querySelector("input[type=search]");
    event.preventDefault();
    if (box) {
      box.focus();
    } else if (document.querySelector("a[href='/ui/search']")) {
      location.assign("/ui/search");
    }
  });
})();
