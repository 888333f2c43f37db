// Shortcodes that on-call talk uses; an unknown one stays as it was written.

const KNOWN = `
+1 👍|thumbsup 👍|-1 👎|thumbsdown 👎|white_check_mark ✅|heavy_check_mark ✔️|ballot_box_with_check ☑️|x ❌|
negative_squared_cross_mark ❎|warning ⚠️|no_entry ⛔|no_entry_sign 🚫|rotating_light 🚨|fire 🔥|eyes 👀|eye 👁️|
mag 🔍|mag_right 🔎|bell 🔔|no_bell 🔕|red_circle 🔴|large_orange_circle 🟠|large_yellow_circle 🟡|large_green_circle 🟢|
large_blue_circle 🔵|white_circle ⚪|black_circle ⚫|large_orange_diamond 🔶|large_blue_diamond 🔷|hourglass ⌛|
hourglass_flowing_sand ⏳|alarm_clock ⏰|clock1 🕐|stopwatch ⏱️|tada 🎉|rocket 🚀|bulb 💡|memo 📝|pencil ✏️|pencil2 ✏️|
clipboard 📋|page_facing_up 📄|bookmark_tabs 📑|chart_with_upwards_trend 📈|chart_with_downwards_trend 📉|bar_chart 📊|
file_folder 📁|paperclip 📎|link 🔗|lock 🔒|unlock 🔓|key 🔑|wrench 🔧|hammer 🔨|hammer_and_wrench 🛠️|gear ⚙️|package 📦|
computer 💻|desktop_computer 🖥️|floppy_disk 💾|electric_plug 🔌|zap ⚡|boom 💥|bug 🐛|robot_face 🤖|ghost 👻|skull 💀|
wave 👋|raised_hands 🙌|pray 🙏|clap 👏|ok_hand 👌|muscle 💪|point_right 👉|point_left 👈|point_up_2 👆|point_down 👇|
raised_hand ✋|hand ✋|v ✌️|thinking_face 🤔|smile 😄|smiley 😃|grinning 😀|slightly_smiling_face 🙂|wink 😉|joy 😂|
sweat_smile 😅|sob 😭|cry 😢|disappointed 😞|worried 😟|confused 😕|neutral_face 😐|expressionless 😑|rage 😡|angry 😠|
scream 😱|sleeping 😴|sunglasses 😎|nerd_face 🤓|heart ❤️|broken_heart 💔|green_heart 💚|blue_heart 💙|star ⭐|sparkles ✨|
sunny ☀️|cloud ☁️|snowflake ❄️|ocean 🌊|coffee ☕|beer 🍺|pizza 🍕|question ❓|grey_question ❔|exclamation ❗|
heavy_exclamation_mark ❗|bangbang ‼️|interrobang ⁉️|information_source ℹ️|arrow_up ⬆️|arrow_down ⬇️|arrow_right ➡️|
arrow_left ⬅️|arrow_upper_right ↗️|arrow_lower_right ↘️|arrows_counterclockwise 🔄|repeat 🔁|heavy_plus_sign ➕|
heavy_minus_sign ➖|100 💯|1234 🔢|one 1️⃣|two 2️⃣|three 3️⃣|four 4️⃣|five 5️⃣|ok 🆗|new 🆕|sos 🆘|construction 🚧|
traffic_light 🚥|vertical_traffic_light 🚦|ambulance 🚑|fire_engine 🚒|speech_balloon 💬|thought_balloon 💭|mega 📣|
loudspeaker 📢|inbox_tray 📥|outbox_tray 📤|email ✉️|envelope ✉️|calendar 📅|date 📅|pushpin 📌|round_pushpin 📍|
triangular_flag_on_post 🚩|checkered_flag 🏁|trophy 🏆|moneybag 💰|credit_card 💳|shopping_trolley 🛒|hospital 🏥|
bust_in_silhouette 👤|busts_in_silhouette 👥|globe_with_meridians 🌐|satellite 🛰️|battery 🔋|broom 🧹|test_tube 🧪|
microscope 🔬|shield 🛡️|label 🏷️|wastebasket 🗑️|play_or_pause_button ⏯️|double_vertical_bar ⏸️|black_square_for_stop ⏹️|
white_small_square ▫️|black_small_square ▪️|seedling 🌱|turtle 🐢|snail 🐌|dart 🎯|game_die 🎲|jigsaw 🧩|hash #️⃣`;

const TONES = { 2: "🏻", 3: "🏼", 4: "🏽", 5: "🏾", 6: "🏿" };
const table = new Map(
  KNOWN.split("|").map((pair) => {
    const [name, sign] = pair.trim().split(" ");
    return [name, sign];
  }),
);

export const QUICK = ["+1", "-1", "white_check_mark", "x", "eyes", "pray", "tada", "fire"];

// "+1" and "+1::skin-tone-3" to the sign; an unknown name to ":name:".
export function sign(name) {
  const [base, tone] = name.split("::skin-tone-");
  const found = table.get(base);
  return found ? found + (TONES[tone] || "") : `:${name}:`;
}

// The name for what a person typed as a sign, "" when nobody knows it.
export function nameOf(typed) {
  const plain = typed.trim().replace(/^:|:$/g, "");
  if (/^[a-z0-9_+'-]+(::skin-tone-[2-6])?$/.test(plain)) return plain;
  const known = [...table].find(([, each]) => each === plain || each.replace("\uFE0F", "") === plain);
  return known ? known[0] : "";
}

export const withEmoji = (text) =>
  text.replace(/:([a-z0-9_+'-]+)(?:::?skin-tone-([2-6]):?)?:/g, (whole, name, tone) => {
    const found = table.get(name);
    return found ? found + (TONES[tone] || "") : whole;
  });
